"""Verb forms that no rule gives. English: base; past; and when the last letter is doubled before -ing.

French: infinitive; present je tu il nous vous ils; future stem; participle. A `-` stands for all before the last `/` in the
infinitive, whose rest is replaced: `cour/ir` with `-s` is `cours`. Compounds are listed with the verb they follow.
"""

FRENCH = """
/être; suis es est sommes êtes sont; ser; été
/avoir; ai as a avons avez ont; aur; eu
/aller; vais vas va allons allez vont; ir; allé
fai/re; -s -s -t -sons -tes font; fer; -t
/pouvoir; peux peux peut pouvons pouvez peuvent; pourr; pu
/vouloir; veux veux veut voulons voulez veulent; voudr; voulu
/devoir; dois dois doit devons devez doivent; devr; dû
/savoir; sais sais sait savons savez savent; saur; su
/voir; vois vois voit voyons voyez voient; verr; vu
/croire; crois crois croit croyons croyez croient; croir; cru
/boire; bois bois boit buvons buvez boivent; boir; bu
/venir; viens viens vient venons venez viennent; viendr; venu
/prendre; prends prends prend prenons prenez prennent; prendr; pris
/apprendre; apprends apprends apprend apprenons apprenez apprennent; apprendr; appris
/comprendre; comprends comprends comprend comprenons comprenez comprennent; comprendr; compris
/surprendre; surprends surprends surprend surprenons surprenez surprennent; surprendr; surpris
/mettre; mets mets met mettons mettez mettent; mettr; mis
/promettre; promets promets promet promettons promettez promettent; promettr; promis
/connaître; connais connais connaît connaissons connaissez connaissent; connaîtr; connu
/disparaître; disparais disparais disparaît disparaissons disparaissez disparaissent; disparaîtr; disparu
/peindre; peins peins peint peignons peignez peignent; peindr; peint
/craindre; crains crains craint craignons craignez craignent; craindr; craint
/plaindre; plains plains plaint plaignons plaignez plaignent; plaindr; plaint
/éteindre; éteins éteins éteint éteignons éteignez éteignent; éteindr; éteint
/mourir; meurs meurs meurt mourons mourez meurent; mourr; mort
dor/mir; -s -s -t -mons -mez -ment; -mir; -mi
endor/mir; -s -s -t -mons -mez -ment; -mir; -mi
ser/vir; -s -s -t -vons -vez -vent; -vir; -vi
par/tir; -s -s -t -tons -tez -tent; -tir; -ti
sor/tir; -s -s -t -tons -tez -tent; -tir; -ti
men/tir; -s -s -t -tons -tez -tent; -tir; -ti
cour/ir; -s -s -t -ons -ez -ent; -r; -u
ouvr/ir; -e -es -e -ons -ez -ent; -ir; ouvert
offr/ir; -e -es -e -ons -ez -ent; -ir; offert
cueill/ir; -e -es -e -ons -ez -ent; -er; -i
li/re; -s -s -t -sons -sez -sent; -r; lu
ri/re; -s -s -t -ons -ez -ent; -r; -
souri/re; -s -s -t -ons -ez -ent; -r; -
di/re; -s -s -t -sons -tes -sent; -r; -t
écri/re; -s -s -t -vons -vez -vent; -r; -t
décri/re; -s -s -t -vons -vez -vent; -r; -t
condui/re; -s -s -t -sons -sez -sent; -r; -t
tradui/re; -s -s -t -sons -sez -sent; -r; -t
construi/re; -s -s -t -sons -sez -sent; -r; -t
détrui/re; -s -s -t -sons -sez -sent; -r; -t
/poursuivre; poursuis poursuis poursuit poursuivons poursuivez poursuivent; poursuivr; poursuivi
/envoyer; envoie envoies envoie envoyons envoyez envoient; enverr; envoyé
"""

# Their passé composé is made with être; reflexive verbs do so too.
WITH_ETRE = frozenset(
    {"aller", "venir", "partir", "arriver", "tomber", "entrer", "sortir", "monter", "descendre", "rester", "mourir"}
)

# -er verbs that double their consonant (jeter, je jette) rather than taking an accent (acheter, j'achète).
DOUBLING_ER = frozenset({"jeter", "appeler"})

ENGLISH_PAST = """
eat ate
drink drank
read read
write wrote
buy bought
sell sold
wear wore
break broke
lose lost
find found
see saw
draw drew
leave left
drive drove
teach taught
forget forgot
tell told
sing sang
hide hid
steal stole
throw threw
cut cut
choose chose
build built
understand understood
hit hit
bite bit
meet met
wake woke
keep kept
forgive forgave
spend spent
go went
take took
make made
get got
come came
have had
know knew
give gave
show showed
send sent
lend lent
bring brought
say said
think thought
sleep slept
run ran
swim swam
fall fell
grow grew
do did
catch caught
win won
shake shook
feed fed
"""

ENGLISH_DOUBLING = frozenset({"run", "swim", "cut", "win", "get", "hit", "forget", "prefer", "stab", "chat", "slap", "wrap"})

ENGLISH_ING = {"lie": "lying", "die": "dying", "be": "being"}
