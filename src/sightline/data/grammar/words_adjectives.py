"""Adjectives: French masculine [feminine]; English; before or after its noun in French; the kinds of noun it suits.

`absolute`: there is no more or less of it, nor often or seldom.
"""

ADJECTIVES = """
petit; small; before; human animal thing
grand; big; before; animal thing
jeune; young; before; human animal
vieux vieille; old; before; human animal thing
beau belle; beautiful; before; animal clothing place object plant vehicle instrument idea
nouveau nouvelle; new; before; worker clothing object vehicle place instrument idea
bon bonne; good; before; human food drink readable idea
mauvais; bad; before; human food drink readable idea
joli; pretty; before; clothing object place plant
long longue; long; before; readable idea
gentil gentille; kind; before; human animal
gros grosse; fat; before; animal
vrai; real; before; wealth virtue idea
rouge; red; after; object clothing vehicle pickable plant part
bleu; blue; after; object clothing vehicle part
vert; green; after; object clothing vehicle pickable plant part
jaune; yellow; after; object clothing vehicle pickable plant
noir; black; after; animal object clothing vehicle
blanc blanche; white; after; animal object clothing vehicle part
gris; gray; after; animal clothing vehicle part
rose; pink; after; clothing plant object
français; french; after; human readable food drink place vehicle idea absolute
anglais; english; after; human readable place vehicle idea absolute
allemand; german; after; human readable vehicle place absolute
italien italienne; italian; after; human food place vehicle idea absolute
espagnol; spanish; after; human food place readable absolute
russe; russian; after; human readable idea absolute
américain; american; after; human vehicle place idea absolute
chinois; chinese; after; human food object absolute
japonais; japanese; after; human vehicle object food absolute
rapide; fast; after; animal vehicle
lent; slow; after; animal vehicle
lourd; heavy; after; object furniture clothing
léger légère; light; after; object clothing
froid; cold; after; food drink place
chaud; hot; after; food drink
cher chère; expensive; after; object clothing vehicle instrument
pauvre; poor; after; human
riche; rich; after; human
triste; sad; after; human animal idea
heureux heureuse; happy; after; human animal
fatigué; tired; after; human animal
malade; sick; after; human animal
aveugle; blind; after; human animal absolute
intelligent; smart; after; human animal
drôle; funny; after; human idea readable
sérieux sérieuse; serious; after; human idea
honnête; honest; after; human
courageux courageuse; brave; after; human animal
timide; shy; after; human animal
poli; polite; after; human
célèbre; famous; after; human place readable idea
fort; strong; after; human animal drink
faible; weak; after; human animal
dangereux dangereuse; dangerous; after; animal place idea
utile; useful; after; object idea readable
inutile; useless; after; object idea
facile; easy; after; idea
difficile; difficult; after; idea
important; important; after; idea readable
intéressant; interesting; after; human idea readable place
ennuyeux ennuyeuse; boring; after; human idea readable
étrange; strange; after; human animal object idea place
simple; simple; after; object idea
compliqué; complicated; after; idea
moderne; modern; after; building furniture idea vehicle
sale; dirty; after; clothing place object vehicle animal
propre; clean; after; clothing place object vehicle
vide; empty; after; openable place absolute
cassé; broken; after; object furniture part absolute
rond; round; after; object furniture absolute
étroit; narrow; after; part clothing
profond; deep; after; crossable
sec sèche; dry; after; clothing plant
mouillé; wet; after; clothing animal
doux douce; soft; after; clothing
dur; hard; after; furniture
sucré; sweet; after; food drink
salé; salty; after; food
amer amère; bitter; after; food drink
frais fraîche; fresh; after; food drink
mûr; ripe; after; pickable
cru; raw; after; food absolute
tranquille; quiet; after; human animal place
bruyant; noisy; after; human animal place vehicle
fidèle; faithful; after; human animal
sauvage; wild; after; animal plant
paresseux paresseuse; lazy; after; human animal
fier fière; proud; after; human animal
jaloux jalouse; jealous; after; human
curieux curieuse; curious; after; human animal
généreux généreuse; generous; after; human
bavard; talkative; after; human
"""

# Masculine singular before a vowel or a mute h.
LIAISON = {"beau": "bel", "nouveau": "nouvel", "vieux": "vieil"}
