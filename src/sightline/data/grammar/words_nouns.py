"""Nouns: French, gender; English; what kind of thing it is (verbs and adjectives choose by these words)."""

PEOPLE = """
homme m; man; human
femme f; woman; human
enfant m; child; human
garçon m; boy; human
fille f; girl; human
étudiant m; student; human
étudiante f; student; human
professeur m; teacher; human
médecin m; doctor; human
ami m; friend; human
amie f; friend; human
père m; father; human kin
mère f; mother; human kin
frère m; brother; human kin
sœur f; sister; human kin
fils m; son; human kin
oncle m; uncle; human kin
tante f; aunt; human kin
cousin m; cousin; human kin
cousine f; cousin; human kin
grand-père m; grandfather; human kin
grand-mère f; grandmother; human kin
voisin m; neighbor; human
voisine f; neighbor; human
bébé m; baby; human
dame f; lady; human
roi m; king; human
reine f; queen; human
prince m; prince; human
princesse f; princess; human
infirmière f; nurse; human
boulanger m; baker; human
boulangère f; baker; human
avocat m; lawyer; human
avocate f; lawyer; human
juge m; judge; human
ministre m; minister; human
président m; president; human
maire m; mayor; human
soldat m; soldier; human
policier m; police officer; human
pompier m; firefighter; human
facteur m; mail carrier; human
paysan m; farmer; human
ouvrier m; worker; human
ouvrière f; worker; human
chanteur m; singer; human
chanteuse f; singer; human
danseuse f; dancer; human
acteur m; actor; human
actrice f; actress; human
peintre m; painter; human
écrivain m; writer; human
poète m; poet; human
journaliste m; journalist; human
cuisinier m; cook; human
serveur m; waiter; human
serveuse f; waitress; human
marchand m; merchant; human
client m; customer; human
cliente f; customer; human
touriste m; tourist; human
voyageur m; traveler; human
pilote m; pilot; human
marin m; sailor; human
ingénieur m; engineer; human
savant m; scientist; human
secrétaire f; secretary; human
voleur m; thief; human
prisonnier m; prisoner; human
héros m; hero; human
élève m; pupil; human
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
cadeau m; gift; object openable
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
voiture f; car; vehicle
train m; train; vehicle
bateau m; boat; vehicle
avion m; plane; vehicle
vélo m; bike; vehicle
camion m; truck; vehicle
bus m; bus; vehicle
navire m; ship; vehicle
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
temps m; time; wealth mass
courage m; courage; virtue mass
patience f; patience; virtue mass
chance f; luck; virtue mass
"""

PLACES = """
maison f; house; place building
ville f; city; place
village m; village; place
école f; school; place building
église f; church; place building
hôpital m; hospital; place building
hôtel m; hotel; place building
bureau m; office; place
bibliothèque f; library; place building
musée m; museum; place building
gare f; train station; place building
marché m; market; place
magasin m; store; place building
boulangerie f; bakery; place building
restaurant m; restaurant; place building
théâtre m; theater; place building
jardin m; garden; place
parc m; park; place
forêt f; forest; place crossable
montagne f; mountain; place crossable
plage f; beach; place
rivière f; river; place crossable
lac m; lake; place crossable
île f; island; place
pont m; bridge; place crossable building
rue f; street; place crossable
cuisine f; kitchen; place
chambre f; bedroom; place
salle de bain f; bathroom; place
salle de classe f; classroom; place
château m; castle; place building
ferme f; farm; place
usine f; factory; place building
université f; university; place
aéroport m; airport; place
désert m; desert; place crossable
champ m; field; place crossable
"""

IDEAS = """
histoire f; story; idea tellable writable
question f; question; idea
réponse f; answer; idea
idée f; idea; idea
problème m; problem; idea
secret m; secret; idea tellable
rêve m; dream; idea tellable
chanson f; song; idea learnable writable
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
