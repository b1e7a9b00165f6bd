"""Little words and set phrases. The notation of links is explained in `wording.py`.

`/` names a word's relation to the head of its phrase (the head has none).
"""

# French masculine, feminine, plural (masculine | feminine); English singular, plural (or of what cannot be counted).
DETERMINERS = """
the: le, la, les; the, the
indefinite: un, une, des; a, some
this: ce, cette, ces; this, these
several: -, -, plusieurs; -, several
few: -, -, quelques; -, a few
many: -, -, beaucoup de~; -, many
all: -, -, tous les | toutes les; -, all the
every: chaque, chaque, -; every, -
partitive: de le, de la, -; some, -
not a: de, de, de; a, any
not any: de, de, -; any, -
"""

# The owners: in English; as a French masculine, feminine, plural.
POSSESSIVES = """
my: mon, ma, mes; my, my
your: ton, ta, tes; your, your
his: son, sa, ses; his, his
her: son, sa, ses; her, her
its: son, sa, ses; its, its
our: notre, notre, nos; our, our
your all: votre, votre, vos; your, your
their: leur, leur, leurs; their, their
"""

# Stand behind the finite verb in French, before the verb proper in English.
ADVERBS = """
souvent; often
toujours; always
parfois; sometimes
rarement; rarely
déjà; already
peut-être; perhaps
"""

# Stand at the end.
MANNERS = """
rapidement; quickly
lentement; slowly
doucement; gently
soudainement; suddenly
calmement; calmly
facilement; easily
discrètement; discreetly
bruyamment; noisily
en/case silence; in silence
avec/case plaisir; with pleasure
par/case hasard; by chance
sans/case raison:1; for no reason:1
"""

# Where things happen. French preposition; English; the kind of place it takes.
PREPOSITIONS = """
dans; in; inside
à; at; meeting
devant; in front of; building
derrière; behind; building
avec; with; human
près de~; near; building
à côté de; next to; building
loin de; far from; building
"""

# Before an adjective.
DEGREES = """
très; very
trop; too
vraiment; really
assez; rather
plutôt; quite
"""

# With a number, and avoir for be: il a 34 ans.
AGE = "#:0/nummod ans:1; #:0 years:1 old:1"

# When: French; English; the tenses it goes with (p present, i imparfait, c passé composé, f futur). `#` is a number.
TIMES = """
hier; yesterday; ci
avant-hier; the day before yesterday; ci
hier/advmod soir; last night; ci
la:1~/det semaine:0 dernière:1/amod; last:1 week:0; ci
le:1~/det mois:0 dernier:1/amod; last:1 month:0; ci
l':1~/det année:0 dernière:1/amod; last:1 year:0; ci
ce/det matin; this morning; ci
en/case #; in #; ci
en:0/case été:1 #:2/nmod; in:0 the:1~ summer:1 of:2~ #:2; ci
il:0~/expl y:0~/expl a:0 #:1/nummod jours:2; #:1 days:2 ago:0; c
il:0~/expl y:0~/expl a:0 #:1/nummod ans:2; #:1 years:2 ago:0; c
pendant/case #/nummod heures; for # hours; c
demain; tomorrow; f
après-demain; the day after tomorrow; f
demain/advmod matin; tomorrow morning; f
la:1~/det semaine:0 prochaine:1/amod; next:1 week:0; f
le:1~/det mois:0 prochain:1/amod; next:1 month:0; f
l':1~/det année:0 prochaine:1/amod; next:1 year:0; f
dans/case #/nummod jours; in # days; f
dans/case #/nummod ans; in # years; f
maintenant; now; p
chaque/det jour; every day; pf
chaque/det matin; every morning; pf
chaque/det été; every summer; pf
le:1~/det dimanche; on:1~ sundays; p
aujourd'hui; today; pcf
ce/det soir; tonight; f
à/case #:1/nummod heures:2; at #:1 o'clock:2; pcf
"""

# Between clauses. `cc` joins equals, `mark` subordinates.
LINKERS = """
et/cc; and
mais/cc; but
parce/mark que/fixed; because
quand/mark; when
pendant/mark que/fixed; while
que/mark; that
"""

# Before a question; what each adds to the bare question.
QUESTIONS = """
pourquoi; why
comment; how
quand; when
où; where
"""
