"""The built-in corpus: a synchronous French–English grammar with gold word alignments, dependencies and antecedents.

A sentence is drawn as a tree (`draw_*`), which two writers say in French and in English (`french`, `english`); words that say
the same unit of the tree are aligned. How words link is noted in the word tables (`wording` explains the notation) and
follows one convention throughout:

- a word and its translation: sure. An expression that is many words on either side: each with each, sure
  (entarté with hit, with, a, pie); but a particle or preposition that only one language has: possible (look *for*);
- an auxiliary that only one language has (a, ont; do, will; was …ing) with the other's verb: possible;
- pas with not, n't, or the whole don't: sure; ne with it: possible; jamais with never: sure;
- a contraction with both of its words: sure (du with of, the);
- the de of an owner with the owner's 's: possible; est-ce que with the auxiliary that asks: possible;
- a reflexive pronoun with the verb: possible.
"""

from sightline.data.grammar.compositions import Part
from sightline.data.grammar.example import Example, example, examples, texts

__all__ = ["Example", "Part", "example", "examples", "texts"]
