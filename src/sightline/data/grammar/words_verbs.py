"""Verbs: French; English; kinds of subject; kinds of object (or of complement).

The first word of each side is inflected. `_` in the English is where the object stands (else it follows all words).
How the words link is said in `wording.py`; `~` marks a word whose links are only possible. A preposition at the end of the
French belongs to the object. `se` makes the verb reflexive. A `*` before the verb: a state, its imparfait is an English past.
"""

INTRANSITIVE = """
dormir; sleep; human animal
courir; run; human animal
marcher; walk; human animal
nager; swim; human animal
sauter; jump; human animal
respirer; breathe; human animal
trembler; tremble; human animal
jouer; play; human animal
tomber; fall; human animal
disparaître; disappear; human animal
maigrir; lose weight; human animal
grossir; gain weight; human animal
vieillir; grow old; human animal
mourir; die; human animal
boiter; limp; human animal
grandir; grow up; human animal
danser; dance; human
travailler; work; human
pleurer; cry; human
rire; laugh; human
sourire; smile; human
crier; shout; human
partir; leave; human
arriver; arrive; human
rester; stay; human
venir; come; human
mentir; lie; human
voyager; travel; human
réfléchir; think; human
tousser; cough; human
éternuer; sneeze; human
rougir; turn red; human
pâlir; turn pale; human
pique-niquer; have a picnic; human
trinquer; clink glasses; human
jardiner; work in the garden; human
grelotter; shake with cold; human
hésiter; hesitate; human
échouer; fail; human
réussir; succeed; human
gagner; win; human
tricher; cheat; human
patiner; skate; human
plonger; dive; human
ronfler; snore; human
cuisiner; cook; human
déménager; move to a new house; human
divorcer; get divorced; human
démissionner; resign; human
protester; protest; human
voter; vote; human
bavarder; chat; human
murmurer; whisper; human
bâiller; yawn; human
exagérer; exaggerate; human
prier; pray; human
fumer; smoke; human
faire la vaisselle; do the dishes; human
faire la cuisine; do the cooking; human
prendre froid; catch cold; human
se lever; get up; human animal
se coucher; go to bed; human
se promener; take a walk; human
se reposer; rest; human animal
se dépêcher; hurry; human
se réveiller; wake up; human animal
s'habiller; get dressed; human
s'endormir; fall asleep; human animal
se baigner; go swimming; human
se marier; get married; human
se plaindre; complain; human
se tromper; make a mistake; human
s'évanouir; faint; human
se raser; shave; human
s'échapper; escape; human animal
se cacher; hide; human animal
*s'ennuyer; be bored; human
*avoir faim; be hungry; human animal
*avoir soif; be thirsty; human animal
*avoir froid; be cold; human animal
*avoir chaud; be hot; human
*avoir sommeil; be sleepy; human
*avoir raison; be right; human
*avoir tort; be wrong; human
*avoir honte; be ashamed; human
"""

TRANSITIVE = """
manger; eat; human animal; food
boire; drink; human animal; drink
ouvrir; open; human; openable
fermer; close; human; openable
lire; read; human; readable
écrire; write; human; writable
acheter; buy; human; object clothing vehicle food drink furniture
vendre; sell; human; object clothing vehicle food drink furniture
porter; wear; human; clothing
laver; wash; human; clothing vehicle pickable
nettoyer; clean; human; furniture vehicle part room
réparer; repair; human; vehicle electric instrument furniture part
casser; break; human; object furniture part
perdre; lose; human; object clothing wealth leisure
trouver; find; human; object food animal
chercher; look for~; human animal; object clothing animal human food
voir; see; human animal; human animal vehicle building plant
regarder; look at~; human animal; human animal plant vehicle building
écouter; listen to~; human; human audible
attendre; wait for~; human animal; human
aider; help; human; human animal
appeler; call; human; human
inviter; invite; human; human
remercier; thank; human; human
saluer; greet; human; human
embrasser; kiss; human; human
féliciter; congratulate; human; human
punir; punish; human; human
soigner; take care of~; human; human animal
sauver; save; human animal; human animal
chasser; hunt; human animal; animal
nourrir; feed; human animal; animal
dessiner; draw; human; animal plant building vehicle human
peindre; paint; human; building plant animal part furniture
photographier; take a picture of; human; animal building human plant
visiter; visit; human; sight
traverser; cross; human animal; crossable
quitter; leave; human; sight room
conduire; drive; human; drivable
garer; park; human; drivable
jouer de~; play; human; instrument
apprendre; learn; human; learnable
enseigner; teach; human; learnable
oublier; forget; human; idea object
raconter; tell; human; tellable
chanter; sing; human; singable
cacher; hide; human animal; object food wealth
voler; steal; human animal; object vehicle food wealth
jeter; throw away; human; object clothing food
ramasser; pick up; human; object clothing pickable
cueillir; pick; human; pickable
planter; plant; human; plant
couper; cut; human; food plant
préparer; prepare; human; food drink
goûter; taste; human; food drink
commander; order; human; food drink
servir; serve; human; food drink
emprunter; borrow; human; object vehicle wealth
choisir; choose; human; object clothing vehicle
essayer; try on; human; clothing
plier; fold; human; clothing
construire; build; human; building vehicle part furniture
détruire; destroy; human; building vehicle part
allumer; turn on; human; electric
éteindre; turn off; human; electric
vider; empty; human; openable
expliquer; explain; human; idea
corriger; correct; human; readable idea
étudier; study; human; learnable readable
traduire; translate; human; readable tellable
publier; publish; human; readable writable
finir; finish; human; readable learnable
commencer; start; human; readable learnable
inventer; invent; human; tellable singable
partager; share; human; food drink
critiquer; criticize; human; human readable idea
attaquer; attack; human animal; human animal
défendre; defend; human animal; human animal
arrêter; arrest; human; human
accuser; accuse; human; human
insulter; insult; human; human
pousser; push; human animal; human vehicle furniture
toucher; touch; human animal; animal object part
frapper; hit; human; human
mordre; bite; animal; human animal
griffer; scratch; animal; human furniture animal
poursuivre; chase; human animal; animal human
lécher; lick; animal; human animal
effrayer; scare; human animal; human animal
amuser; amuse; human animal; human
surprendre; surprise; human animal; human animal
ennuyer; bore; human; human
rassurer; reassure; human; human
consoler; comfort; human; human
conseiller; advise; human; human
guider; guide; human animal; human
accompagner; accompany; human animal; human
rencontrer; meet; human; human animal
épouser; marry; human; human
embaucher; hire; human; worker
interroger; question; human; human
réveiller; wake _ up; human animal; human animal
gronder; scold; human; child animal
protéger; protect; human animal; human animal building
tromper; deceive; human; human
trahir; betray; human; human
entarter; hit _ with a pie; human; human
dépenser; spend; human; wealth
économiser; save; human; wealth
gifler; slap _ in the face; human; human
poignarder; stab _ with a knife; human; human
bercer; rock _ to sleep; human; child
chatouiller; tickle; human; human animal
empoisonner; poison; human; human animal
enterrer; bury; human; animal wealth
arroser; water; human; plant
brûler; burn; human; readable plant
envelopper; wrap; human; object
peser; weigh; human; object food animal
mesurer; measure; human; furniture part plant
compter; count; human; animal object
collectionner; collect; human; object
louer; rent; human; vehicle building
garder; keep; human; object animal
vérifier; check; human; idea
copier; copy; human; readable learnable
décrire; describe; human; human place idea object
obéir à~; obey; human animal; human
répondre à~; answer; human; human
téléphoner à~; phone; human; human
pardonner à~; forgive; human; human
parler à; talk to; human; human
sourire à; smile at; human; human
mentir à; lie to; human; human
parler de; talk about; human; human animal idea readable place
rêver de; dream of; human; place animal idea
s'occuper de; take care of; human; human animal plant
se moquer de; make fun of; human; human
s'approcher de~; approach; human animal; human animal building
entrer dans~; enter; human animal; building room
sortir de; come out of; human animal; building room
monter dans; get into; human animal; ridable
descendre de; get out of; human animal; ridable
*avoir; have; human; object clothing vehicle animal wealth leisure food drink idea virtue
*aimer; like; human animal; human animal food drink
*adorer; love; human animal; human animal food drink
*détester; hate; human animal; human animal food drink
*préférer; prefer; human; food drink clothing vehicle
*connaître; know; human; human place idea
*comprendre; understand; human; human idea
*posséder; own; human; vehicle building animal instrument
*vouloir; want; human; food drink object
*respecter; respect; human; human
*admirer; admire; human; human building
*mériter; deserve; human; food drink gift
*craindre; fear; human animal; human animal
*avoir peur de; be afraid of; human animal; human animal
*avoir besoin de~; need; human; human object clothing
*ressembler à; look like; human; human animal
*se méfier de~; distrust; human animal; human animal
"""

DITRANSITIVE = """
donner; give; human; object food drink clothing animal wealth
montrer; show; human; object clothing vehicle animal place
envoyer; send; human; object readable
prêter; lend; human; object vehicle clothing wealth
offrir; offer; human; object clothing food drink animal
apporter; bring; human; object food drink
vendre; sell; human; object vehicle clothing food drink
lire; read; human; readable
raconter; tell; human; tellable
promettre; promise; human; object animal wealth
enseigner; teach; human; learnable
"""

# These take que and a clause.
SAYING = """
dire; say; human
*penser; think; human
*croire; believe; human
*savoir; know; human
répéter; repeat; human
annoncer; announce; human
affirmer; claim; human
remarquer; notice; human
écrire; write; human
comprendre; understand; human
"""

# These take an infinitive.
HELPING = """
*vouloir; want to~; human animal
*pouvoir; can; human animal
*devoir; must; human animal
*aimer; like to~; human animal
*préférer; prefer to~; human
*espérer; hope to~; human
*aller; be going to~; human animal
essayer de; try to; human animal
commencer à; start to; human animal
continuer à; continue to; human animal
oublier de; forget to; human
refuser de; refuse to; human animal
décider de; decide to; human
apprendre à; learn to; human animal
promettre de; promise to; human
"""

# These come up more often than the others.
# How many times as often as other verbs. What avoir says hangs on the word after it (n' ont pas acheté, n' ont pas d' argent), so
# that it must be met often to be told from the auxiliary.
FREQUENT = {
    "avoir": 24, "entarter": 6, "ouvrir": 3, "fermer": 3, "manger": 3, "boire": 3, "lire": 3, "écrire": 3, "acheter": 3,
    "voir": 3, "aider": 3, "aimer": 3,
}  # fmt: skip
