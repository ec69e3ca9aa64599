"""The names that Universal Dependencies and OntoNotes fix."""

from __future__ import annotations

__all__ = ["ENTITIES", "MORPH", "UPOS"]

# https://universaldependencies.org/u/pos/, in its order, with what each marks
UPOS = {
    "ADJ": "adjectives",
    "ADP": "adpositions",
    "ADV": "adverbs",
    "AUX": "auxiliaries",
    "CCONJ": "coordinating conjunctions",
    "DET": "determiners",
    "INTJ": "interjections",
    "NOUN": "nouns",
    "NUM": "numerals",
    "PART": "particles",
    "PRON": "pronouns",
    "PROPN": "proper nouns",
    "PUNCT": "punctuation",
    "SCONJ": "subordinating conjunctions",
    "SYM": "symbols",
    "VERB": "verbs",
    "X": "other words",
}

# OntoNotes 5
ENTITIES = {
    "CARDINAL": "numbers",
    "DATE": "dates and periods",
    "EVENT": "named events",
    "FAC": "buildings, airports, roads",
    "GPE": "countries, cities, states",
    "LANGUAGE": "languages",
    "LAW": "named laws",
    "LOC": "other places",
    "MONEY": "amounts of money",
    "NORP": "nationalities, religious and political groups",
    "ORDINAL": "ordinal numbers",
    "ORG": "organisations",
    "PERCENT": "percentages",
    "PERSON": "people",
    "PRODUCT": "products",
    "QUANTITY": "measurements",
    "TIME": "times of day",
    "WORK_OF_ART": "titles of works",
}

# https://universaldependencies.org/u/feat/: keys and the values that the guidelines describe
_MORPH = """
Abbr: Yes
Animacy: Anim Hum Inan Nhum
Aspect: Hab Imp Iter Perf Prog Prosp
Case: Abs Acc Erg Nom Abe Ben Cau Cmp Cns Com Dat Dis Equ Gen Ins Par Tem Voc Abl Add Ade All Del
  Ela Ess Ill Ine Lat Loc Per Sbe Sbl Spl Sub Sup Ter Tra
Clusivity: Ex In
ConjType: Cmp Comp Oper Pred
Definite: Com Cons Def Ind Spec
Degree: Abs Aug Cmp Dim Equ Pos Sup
Deixis: Abv Bel Even Med Nvis Prox Remt
DeixisRef: 1 2
Evident: Fh Nfh
ExtPos: ADJ ADP ADV AUX CCONJ DET INTJ PRON PROPN SCONJ
Foreign: Yes
Gender: Com Fem Masc Neut
HebBinyan: HIFIL HITPAEL HUFAL NIFAL PAAL PIEL PUAL
Mood: Adm Cnd Des Imp Ind Int Irr Jus Nec Opt Pot Prp Qot Sub
NounClass: Bantu1 Bantu2 Bantu3 Bantu4 Bantu5 Bantu6 Bantu7 Bantu8 Bantu9 Bantu10
NounType: Clf
NumForm: Combi Digit Roman Word
NumType: Card Dist Frac Mult Ord Range Sets
Number: Coll Count Dual Grpa Grpl Inv Pauc Plur Ptan Sing Tri
PartType: Emp Inf Int Mod Neg Res Vbp
Person: 0 1 2 3 4
Polarity: Neg Pos
Polite: Elev Form Humb Infm
Poss: Yes
PronType: Art Dem Emp Exc Ind Int Neg Prs Rcp Rel Tot
PunctSide: Fin Ini
PunctType: Brck Colo Comm Dash Elip Excl Peri Qest Quot Semi Slsh
Reflex: Yes
Style: Arch Coll Expr Form Rare Slng Vrnc Vulg
Subcat: Ditr Indir Intr Tran
Tense: Fut Imp Past Pqp Pres
Typo: Yes
VerbForm: Conv Fin Gdv Ger Inf Part Sup Vnoun
VerbType: Aux Cop Light Mod Quasi
Voice: Act Antip Bfoc Cau Dir Inv Lfoc Mid Pass Rcp
"""


def _read(text: str) -> dict[str, tuple[str, ...]]:
    lines = text.replace("\n  ", " ").strip().split("\n")
    return {
        key: tuple(values.split()) for key, _, values in (line.partition(":") for line in lines)
    }


MORPH = _read(_MORPH)
