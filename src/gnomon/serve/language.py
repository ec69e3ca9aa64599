"""Which language a text is probably written in, by its script and its most frequent words.

Nothing has to be installed for it. It is a guess that a person confirms.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from gnomon.core.scripts import main_script, unspaced_language

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["guess_language"]


_WORDS = {
    "af": "die en van het is nie dat op vir sy ook hy was met wat aan",
    "bg": "на и да се за от не са че по като ще във който това беше",
    "be": "і у на што не з да як ён для гэта яго па было каб іх",
    "bs": "je i u na da se za su od će što koji ne kao sa ali",
    "ca": "de la que el i en els per amb una les del és un no més",
    "cs": "a se v na že je s z do pro jsem to by si jako ale který",
    "cy": "y yn a yr i o ar ei mae ac wedi bod gan oedd hyn ond",
    "da": "og i at det er en til af på som for med den der ikke har",
    "de": "der die und in den von zu das mit sich des auf für ist nicht ein",
    "en": "the of and to in a is that for it was on with as are this",
    "es": "de la que el en y los se del las un por con una no es",
    "et": "ja on ei et see oli kui ka mis aga oma ta ning selle tema",
    "eu": "eta da ez du bat dira zen ere egin hori baina izan dute den",
    "fi": "ja on ei että se oli hän mutta kun ovat myös kuin joka sen",
    "fr": "de la le et les des en un du une que est pour qui dans pas",
    "ga": "an na agus ar go tá a is le i bhí sé ag do níl sin",
    "gl": "de a o que e do da en os un para unha non con as é",
    "hr": "je i u na da se za su od će što koji ne kao s tijekom",
    "hu": "a az és hogy nem is egy van ez meg de azt csak volt mint",
    "id": "yang dan di dengan untuk dari ini pada itu tidak dalam akan adalah",
    "is": "og að í á er sem en ekki það við um hann til með var fyrir",
    "it": "di che e la il un a per in non è una sono con si del",
    "kk": "және мен бұл бір үшін да де деп бар болып оның осы еді",
    "lt": "ir kad į yra iš su o tai bet kaip nuo jis buvo dėl apie",
    "lv": "un ir ka no par ar uz kas bet arī to tas kā viņš bija",
    "mk": "на и да се во за од не ќе е со што но како беше се",
    "ms": "yang dan di dengan untuk dari ini pada itu tidak dalam kepada ialah",
    "mt": "li ta u fil għal minn kien biex dan hija mhux huwa ma",
    "nb": "og i er det som på en til av for at ikke med har den jeg",
    "nl": "de van het een en in is dat op te zijn voor met niet die aan",
    "pl": "i w na z się do nie że to jest o jak po od za ale",
    "pt": "de a que o e do da em um para com não uma os no se",
    "ro": "de și în a la cu o pe nu că care din un este mai pentru",
    "ru": "и в не на что с он как это по но из у за от для",
    "sk": "a sa v na že je s z do pre som to by si ako ale ktorý",
    "sl": "je in v na da se za so pa ki ne z bi kot tudi od",
    "sq": "të e në dhe i një për që me nga është u ka më nuk",
    "sr": "је и у на да се за су од ће што који не као са али",
    "sv": "och i att det som en på är av för med den till inte har de",
    "sw": "ya na wa kwa ni za katika la kuwa hii ambayo cha kama lakini",
    "tl": "ang ng sa na mga at ay ni para si hindi ito siya kung may",
    "tr": "ve bir bu da için de ile çok olarak daha ne gibi var ancak",
    "uk": "і в не на що з та він як це до але за його був для",
    "vi": "và của là có không cho một được trong với các người những đã",
}
_LANGUAGES = {language: frozenset(words.split()) for language, words in _WORDS.items()}
#: scripts of one language, as far as a guess goes; letters that only one language has
_OF_SCRIPT = {
    "GREEK": "el", "HEBREW": "he", "GEORGIAN": "ka", "ARMENIAN": "hy", "TAMIL": "ta",
    "BENGALI": "bn", "GUJARATI": "gu", "DEVANAGARI": "hi", "TELUGU": "te", "KANNADA": "kn",
    "MALAYALAM": "ml", "GURMUKHI": "pa", "SINHALA": "si", "ETHIOPIC": "am",
}  # fmt: skip
_OF_LETTERS = {
    "ARABIC": (("ur", "ٹڈےں"), ("ps", "ټډړښ"), ("fa", "گچپژ")),
    "CYRILLIC": (("kk", "қғңұ"),),
}
_WORD = re.compile(r"[^\W\d_]+")
_SAMPLE = 20_000
_FEWEST, _SHARE, _CLEAR = 5, 0.08, 1.15


def guess_language(lines: Sequence[str]) -> str | None:
    """The code of the language of some lines; None where that is not clear.

    >>> guess_language(["Das ist nicht der Weg, den wir mit dem Auto zu der Stadt fahren."])
    'de'
    >>> guess_language(["42", "OK"]) is None
    True
    """
    unspaced = unspaced_language(lines)
    if unspaced is not None:
        return unspaced
    step = max(1, sum(map(len, lines)) // _SAMPLE)
    text = " ".join(lines[::step]).casefold()
    script = main_script(text)
    if script in _OF_SCRIPT:
        return _OF_SCRIPT[script]
    counts = Counter(text)
    for language, letters in _OF_LETTERS.get(script or "", ()):
        if sum(counts[letter] for letter in letters) > counts.total() / 200:
            return language
    if script == "ARABIC":
        return "ar"
    words = Counter(_WORD.findall(text))
    hits = {
        language: sum(words[word] for word in frequent) for language, frequent in _LANGUAGES.items()
    }
    (best, most), (_, second) = sorted(hits.items(), key=lambda item: -item[1])[:2]
    if most < max(_FEWEST, _SHARE * words.total()) or most < _CLEAR * second:
        return None
    return best
