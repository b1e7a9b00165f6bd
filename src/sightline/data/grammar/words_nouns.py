"""Nouns: French, gender; English; what kind of thing it is (verbs and adjectives choose by these words)."""

PEOPLE = """
homme m; man; human
femme f; woman; human
enfant m; child; human child
garçon m; boy; human child
fille f; girl; human child
étudiant m; student; human
étudiante f; student; human
professeur m; teacher; human worker
médecin m; doctor; human worker
ami m; friend; human
amie f; friend; human
père m; father; human kin
mère f; mother; human kin
frère m; brother; human kin
sœur f; sister; human kin
fils m; son; human kin child
oncle m; uncle; human kin
tante f; aunt; human kin
cousin m; cousin; human kin
cousine f; cousin; human kin
grand-père m; grandfather; human kin
grand-mère f; grandmother; human kin
voisin m; neighbor; human
voisine f; neighbor; human
bébé m; baby; human child
dame f; lady; human
roi m; king; human
reine f; queen; human
prince m; prince; human
princesse f; princess; human
infirmière f; nurse; human worker
boulanger m; baker; human worker
boulangère f; baker; human worker
avocat m; lawyer; human worker
avocate f; lawyer; human worker
juge m; judge; human worker
ministre m; minister; human worker
président m; president; human worker
maire m; mayor; human worker
soldat m; soldier; human worker
policier m; police officer; human worker
pompier m; firefighter; human worker
facteur m; mail carrier; human worker
paysan m; farmer; human worker
ouvrier m; worker; human worker
ouvrière f; worker; human worker
chanteur m; singer; human worker
chanteuse f; singer; human worker
danseuse f; dancer; human worker
acteur m; actor; human worker
actrice f; actress; human worker
peintre m; painter; human worker
écrivain m; writer; human worker
poète m; poet; human worker
journaliste m; journalist; human worker
cuisinier m; cook; human worker
serveur m; waiter; human worker
serveuse f; waitress; human worker
marchand m; merchant; human worker
client m; customer; human
cliente f; customer; human
touriste m; tourist; human
voyageur m; traveler; human
pilote m; pilot; human worker
marin m; sailor; human worker
ingénieur m; engineer; human worker
savant m; scientist; human worker
secrétaire f; secretary; human worker
voleur m; thief; human
prisonnier m; prisoner; human
héros m; hero; human
élève m; pupil; human child
"""

# Adjectives that serve as nouns, always with the plural definite article.
COLLECTIVES = """
pauvres; poor
riches; rich
malades; sick
jeunes; young
vieux; old
aveugles; blind
blessés; wounded
chômeurs; unemployed
"""

ANIMALS = """
chat m; cat; animal
chien m; dog; animal
cheval m; horse; animal
oiseau m; bird; animal
vache f; cow; animal
souris f; mouse; animal
lapin m; rabbit; animal
mouton m; sheep; animal
loup m; wolf; animal
renard m; fox; animal
ours m; bear; animal
singe m; monkey; animal
poule f; hen; animal
canard m; duck; animal
âne m; donkey; animal
hibou m; owl; animal
éléphant m; elephant; animal
tortue f; turtle; animal
abeille f; bee; animal
papillon m; butterfly; animal
grenouille f; frog; animal
chèvre f; goat; animal
cochon m; pig; animal
chauve-souris f; bat; animal
ver de terre m; earthworm; animal
"""

THINGS = """
livre m; book; object readable openable
lettre f; letter; object readable openable writable
journal m; newspaper; object readable
roman m; novel; object readable writable
poème m; poem; readable writable learnable idea
cahier m; notebook; object openable
carte f; map; object
stylo m; pen; object
crayon m; pencil; object
clé f; key; object
lampe f; lamp; object electric furniture
table f; table; object furniture
chaise f; chair; object furniture
lit m; bed; furniture
armoire f; wardrobe; furniture openable
miroir m; mirror; object furniture
horloge f; clock; object
montre f; watch; object
téléphone m; phone; object electric
ordinateur m; computer; object electric
machine à laver f; washing machine; electric object
valise f; suitcase; object openable
sac m; bag; object openable
sac à dos m; backpack; object openable
boîte f; box; object openable
bouteille f; bottle; object openable
verre m; glass; object
assiette f; plate; object
couteau m; knife; object
fourchette f; fork; object
cuillère f; spoon; object
tasse f; cup; object
panier m; basket; object
parapluie m; umbrella; object openable
bague f; ring; object
ballon m; ball; object
jouet m; toy; object
poupée f; doll; object
cadeau m; gift; object openable gift
photo f; photo; object
tableau m; painting; object
outil m; tool; object
marteau m; hammer; object
échelle f; ladder; object
corde f; rope; object
couverture f; blanket; object
serviette f; towel; object
billet m; ticket; object
timbre m; stamp; object
enveloppe f; envelope; object openable
drapeau m; flag; object
piano m; piano; instrument furniture
guitare f; guitar; instrument object
violon m; violin; instrument object
tambour m; drum; instrument object
flûte f; flute; instrument object
chemise f; shirt; clothing
robe f; dress; clothing
manteau m; coat; clothing
chapeau m; hat; clothing
chaussure f; shoe; clothing
jupe f; skirt; clothing
veste f; jacket; clothing
gant m; glove; clothing
écharpe f; scarf; clothing
ceinture f; belt; clothing
cravate f; tie; clothing
voiture f; car; vehicle drivable ridable
train m; train; vehicle drivable ridable
bateau m; boat; vehicle ridable
avion m; plane; vehicle ridable
vélo m; bike; vehicle
camion m; truck; vehicle drivable ridable
bus m; bus; vehicle drivable ridable
navire m; ship; vehicle ridable
porte f; door; part openable
fenêtre f; window; part openable
mur m; wall; part
toit m; roof; part
arbre m; tree; plant
fleur f; flower; plant pickable
feuille f; leaf; plant pickable
"""

FOODS = """
pomme f; apple; food pickable
poire f; pear; food pickable
orange f; orange; food pickable
banane f; banana; food
gâteau m; cake; food
œuf m; egg; food
pomme de terre f; potato; food
tomate f; tomato; food pickable
carotte f; carrot; food
oignon m; onion; food
citron m; lemon; food pickable
cerise f; cherry; food pickable
fraise f; strawberry; food pickable
champignon m; mushroom; food pickable
haricot m; bean; food
pastèque f; watermelon; food
pain m; bread; food mass
beurre m; butter; food mass
fromage m; cheese; food mass
viande f; meat; food mass
riz m; rice; food mass
soupe f; soup; food mass
miel m; honey; food mass
sucre m; sugar; food mass
eau f; water; drink mass
lait m; milk; drink mass
vin m; wine; drink mass
café m; coffee; drink mass
thé m; tea; drink mass
bière f; beer; drink mass
jus m; juice; drink mass
argent m; money; wealth mass
or m; gold; wealth mass
temps m; time; leisure mass
courage m; courage; virtue mass
patience f; patience; virtue mass
chance f; luck; virtue mass
"""

PLACES = """
maison f; house; place building inside
ville f; city; place sight inside
village m; village; place sight inside
école f; school; place building sight inside meeting
église f; church; place building sight inside meeting
hôpital m; hospital; place building sight inside meeting
hôtel m; hotel; place building inside meeting
bureau m; office; place room inside meeting
bibliothèque f; library; place building inside meeting
musée m; museum; place building sight inside meeting
gare f; train station; place building inside meeting
marché m; market; place meeting
magasin m; store; place building inside meeting
boulangerie f; bakery; place building inside meeting
restaurant m; restaurant; place building inside meeting
théâtre m; theater; place building inside meeting
jardin m; garden; place room inside
parc m; park; place sight inside
forêt f; forest; place crossable inside
montagne f; mountain; place crossable
plage f; beach; place meeting
rivière f; river; place crossable
lac m; lake; place crossable
île f; island; place sight
pont m; bridge; place crossable building
rue f; street; place crossable inside
cuisine f; kitchen; place room inside
chambre f; bedroom; place room inside
salle de bain f; bathroom; place room inside
salle de classe f; classroom; place room inside
château m; castle; place building sight inside meeting
ferme f; farm; place sight inside meeting
usine f; factory; place building sight inside meeting
université f; university; place sight inside meeting
aéroport m; airport; place inside meeting
désert m; desert; place crossable inside
champ m; field; place crossable inside
"""

IDEAS = """
histoire f; story; idea tellable writable audible
question f; question; idea
réponse f; answer; idea
idée f; idea; idea
problème m; problem; idea
secret m; secret; idea tellable
rêve m; dream; idea tellable
chanson f; song; idea learnable writable audible singable
projet m; plan; idea
erreur f; mistake; idea
leçon f; lesson; idea learnable
film m; movie; idea
jeu m; game; idea
mot m; word; idea learnable
règle f; rule; idea learnable
voyage m; trip; idea
"""

NOUNS = PEOPLE + ANIMALS + THINGS + FOODS + PLACES + IDEAS

FRENCH_PLURALS = {
    "grand-père": "grands-pères",
    "grand-mère": "grands-mères",
    "chauve-souris": "chauves-souris",
    "hibou": "hiboux",
    "ver de terre": "vers de terre",
    "pomme de terre": "pommes de terre",
    "sac à dos": "sacs à dos",
    "machine à laver": "machines à laver",
    "salle de bain": "salles de bain",
    "salle de classe": "salles de classe",
}

ENGLISH_PLURALS = {
    "man": "men",
    "woman": "women",
    "child": "children",
    "mouse": "mice",
    "sheep": "sheep",
    "wolf": "wolves",
    "thief": "thieves",
    "knife": "knives",
    "scarf": "scarves",
    "leaf": "leaves",
    "photo": "photos",
    "piano": "pianos",
}
