"""Kinds of faults, each on texts that have it and on texts that do not."""

from __future__ import annotations

import pytest

import gnomon as gn
from gnomon.core.errors import UnknownNameError
from gnomon.linguistics import annotate
from gnomon.linguistics.faults import Texts, fault_kinds, find_faults
from gnomon.linguistics.faults.empties import find_loop


def texts(outputs, references=None, sources=None, pair="en-de", **others):
    """The texts of one system ``a``, others beside it, and references like the outputs."""
    return Texts(
        gn.TestSet.from_lists(
            {"a": outputs, **others}, references or outputs, sources=sources, language_pair=pair
        )
    )


def hits(kind, some, column="a"):
    """The segments, from 1, that a kind hits in a column."""
    return [hit.segment + 1 for hit in find_faults([kind])[0].rule(some) if hit.column == column]


def test_no_letter_digit_or_emoji_is_empty():
    sources = ["One.", "Two.", "Three.", "4", "...", "Six."]
    some = texts(["Eins.", "", " … ", "4", "", "🎉"], ["x"] * 6, sources)
    assert hits("empty", some) == [2, 3]


def test_a_copy_has_most_lower_case_words_of_the_source():
    sources = ["We went to the sea and came home", "New York City", "see you soon", "Hello world"]
    outputs = ["We went to the sea and came heim", "New York City", "see you soon", "Hallo Welt"]
    some = texts(outputs, ["Wir fuhren ans Meer", "New York City", "bis bald", "Hallo"], sources)
    assert hits("copied", some) == [1, 3]


@pytest.mark.parametrize(
    ("pair", "kept", "translated"),
    [
        (
            "en-hi",
            ["New York Times 7", "iPhone 15 Pro 3", "v2.3.1-beta 12", "E = mc2 8"],
            "so it is",
        ),
        ("en-de", ["The Lord of the Rings", "@anna #berlin 6"], "I am here"),
        ("ru-uk", ["Лев Толстой, том 3"], "мы уже здесь"),
        ("zh-ja", ["北京大学出版社", "2024年7月"], "我们明天早上一起去公园里散步好吗"),
        ("hi-mr", ["अटल बिहारी वाजपेयी विश्वविद्यालय"], " ".join(f"शब्द {n}क" for n in "कखगघचछजझटठड")),
        ("zh-en", [], "北京大学"),
        ("hi-en", [], "यह घर है"),
    ],
)
def test_an_equal_text_of_names_and_numbers_is_no_copy(pair, kept, translated):
    sources = [*kept, translated]
    assert hits("copied", texts(sources, ["x"] * len(sources), sources, pair)) == [len(sources)]


def test_six_words_of_the_source_in_a_row_are_a_half_copied_output():
    source = "The house by the sea was sold last year to a man from Rome"
    outputs = [
        f"Das Haus by the sea was sold last {'Jahr an einen Mann ' * 3}",
        "The House of Lords",
    ]
    assert hits("half-copied", texts(outputs, sources=[source] * 2)) == [1]
    german = "Dort sprach die Ministerin Chrystia Freeland ihre Rede vor Vertretern in New York"
    outputs = ["There the Ministerin Chrystia Freeland ihre Rede vor Vertretern in New York"]
    assert hits("half-copied", texts(outputs, ["x"], [german], "de-en")) == [1]


def test_letters_of_other_scripts_count_but_names_do_not():
    outputs = [
        "天気がとてもいいですね",
        "The weather is very nice",
        "#DIY #HomeRenovation by Tierra",
    ]
    some = texts([*outputs, "天气非常好我们去公园散步吧好吗"], sources=["x"] * 4, pair="en-ja")
    assert hits("script", some) == [2, 4]
    some = texts(["Погода сегодня очень хорошая", "Das ist ein Haus"], pair="en-de")
    assert hits("script", some) == [1]


def test_words_that_nobody_else_knows_are_of_another_language():
    reference = ["der Hund lief durch den Garten und bellte laut"] * 2
    outputs = ["il cane correva nel giardino abbaiando molto forte", reference[0]]
    assert hits("language", texts(outputs, reference)) == [1]


def test_near_languages_are_told_apart():
    pytest.importorskip("py3langid")
    reference = ["собака бежала по саду и громко лаяла", "сегодня хорошая погода и мы пошли гулять"]
    outputs = ["сьогодні гарна погода і ми пішли гуляти по саду", reference[1]]
    assert hits("language", texts(outputs, reference, pair="en-ru")) == [1]


def test_answers_and_repeated_openings_are_no_translations():
    outputs = ["Sure! Here is the translation: Haus", "Haus", "Ich bitte um Verzeihung```"]
    assert hits("not-a-translation", texts(outputs, ["Haus"] * 3, ["house"] * 3)) == [1, 3]
    begun = [f"Gern geschehen mein Freund: {word}" for word in ("rot", "blau", "grün", "gelb")]
    sources = ["red", "blue", "green", "yellow"]
    assert hits("not-a-translation", texts(begun, ["r", "b", "g", "y"], sources)) == [1, 2, 3, 4]
    assert hits("not-a-translation", texts(begun, begun, sources)) == []


def test_a_remark_in_the_language_of_the_source_is_no_translation():
    sources = [f"The {word} is on the table and it is for you" for word in ("key", "cup", "pen")]
    reference = ["Der Schlüssel liegt da", "Die Tasse liegt da", "Der Stift liegt da"]
    remark = "Der Schlüssel. I think that the word is for a person and it is on the whole fine"
    assert hits("not-a-translation", texts([remark, *reference[1:]], reference, sources)) == [1]
    chinese = [f"这是一本{word}的书，它在我的桌子上。" for word in ("新", "旧", "好")]
    english = ["A new book is on my desk.", "An old book.", "A good book."]
    remark = f"{english[0]} 我不是很明白这一句的意思是在哪本书。"
    assert hits("not-a-translation", texts([remark, *english[1:]], english, chinese)) == [1]


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("on and on and on and on and on", (0, 30)),
        ("It is hahahahahahahahahahaha fun", (6, 28)),
        ("..............................", None),
        ("no, no, no", None),
        ("これはこれはこれはこれはこれはこれはこれはこれは", (0, 24)),
    ],
)
def test_a_loop_is_a_stretch_four_times_in_a_row(text, span):
    assert find_loop(text) == span


def test_lengths_are_those_of_other_outputs():
    usual = ["a text of about thirty signs.."] * 4
    others = dict.fromkeys("bcd", usual)
    some = texts(["a text of", "a text of about thirty signs.." * 3, "", usual[0]], usual, **others)
    assert hits("too-short", some) == [1]
    assert hits("too-long", some) == [2]


def test_lengths_without_others_follow_the_source():
    sources = ["word " * (5 + n % 7) for n in range(40)]
    outputs = [f"{text}{'.' * (n % 3)}" for n, text in enumerate(sources)]
    outputs[3], outputs[4] = outputs[3][:9], outputs[4] * 3
    some = texts(outputs, None, sources)
    assert (hits("too-short", some), hits("too-long", some)) == ([4], [5])


def test_the_output_of_another_segment_is_told_and_its_owner_let_go():
    sources = ["the dog runs", "a green house", "the dog runs fast"]
    outputs = ["ein Haus in Grün", "ein Haus in Grün", "der Hund läuft schnell"]
    reference = ["der Hund läuft", "ein grünes Haus", "der Hund läuft schnell"]
    assert hits("other-segment", texts(outputs, reference, sources)) == [1]


def test_a_file_under_two_names_is_told_of_both():
    outputs = [f"this is the text of number {n}" for n in range(20)]
    other = [text.upper() for text in outputs]
    some = texts([*outputs[:19], "another"], other, b=outputs, c=other[::-1])
    assert [len(hits("double", some, column)) for column in "abc"] == [19, 19, 0]


@pytest.mark.parametrize(
    ("kind", "source", "kept", "lost"),
    [
        ("placeholder", "Hi {name}, %d files", "%d Dateien, {name}", "Hallo {Name}, %d Dateien"),
        ("tag", "a <b>bold</b> word", "ein <b>fettes</b> Wort", "ein <b>fettes<b> Wort"),
        ("address", "see www.a.org/b.", "siehe www.a.org/b.", "siehe www.a.de/b."),
        ("emoji", "fine 🎉🎉", "gut 🎉🎉", "gut 🎉"),
        ("bracket", "one (two) :)", "eins (zwei)", "eins (zwei"),
        ("entity", 'a "b" & c', "a „b“ & c", "a &quot;b&quot; & c"),
        ("handle", "to @me", "an @me", "an @mich"),
        ("quote", 'a "b"', "a „b“", "a b"),
        ("end-mark", "Is it?", "Ist es？", "Ist es."),
        ("number", "1,234 or 5.5", "1.234 oder 5,5", "1.243 oder 5,5"),
    ],
)
def test_marks_are_kept(kind, source, kept, lost):
    assert hits(kind, texts([kept, lost], [source] * 2, [source] * 2)) == [2]


def test_texts_that_are_escaped_throughout_have_no_strange_entities():
    escaped = ["a &quot;b&quot;"] * 3
    assert hits("entity", texts(escaped, escaped, ['a "b"'] * 3)) == []


def test_what_lacks_is_said():
    [kind] = find_faults(["copied"])
    assert kind.lacks(texts(["x"])) == "source"
    assert kind.lacks(texts(["x"], sources=["y"])) == ""


def test_names_and_groups_stand_for_kinds():
    assert {one.name for one in find_faults(["all"])} == set(fault_kinds())
    with pytest.raises(UnknownNameError, match="empty"):
        find_faults(["emty"])


def test_white_space_is_empty_and_no_loop():
    some = texts([" " * 40, "Eins."], ["Null.", "Eins."], ["Zero.", "One."])
    assert (hits("empty", some), hits("loop", some)) == ([1], [])


def test_lengths_of_segments_that_nobody_else_translates_are_unknown():
    long = "ein langer Satz mit vielen Worten und noch mehr davon"
    some = texts([long, "kurz"], ["", long], b=["", long], c=["", long])
    assert (hits("too-long", some), hits("too-short", some)) == ([], [2])


def test_a_tag_that_never_ends_is_read_in_no_time():
    endless = "<a" + ' a="' * 5000
    assert hits("tag", texts([endless], sources=["x"])) == []


def test_languages_are_told_beside_two_other_texts():
    some = Texts(gn.TestSet.from_lists({"a": ["x"]}, ["x"], language_pair="en-de"))
    assert fault_kinds()["language"].lacks(some) == "others"
    two = Texts(gn.TestSet.from_lists({"a": ["x"], "b": ["y"]}, ["x"]))
    assert fault_kinds()["language"].lacks(two) == "others"


def test_few_segments_know_too_few_words_to_tell_a_language():
    pytest.importorskip("py3langid")
    one = ["Das rote Haus steht hinter dem alten Garten.", "Wir fahren morgen ans Meer."]
    two = ["Ein Gebäude liegt jenseits eines Parks.", "Man reist bald zur Küste."]
    odd = ["La maison rouge est derrière le vieux jardin.", "Demain nous allons à la mer."]
    some = texts(one, two, b=two, c=odd)
    assert hits("language", some) == []
    assert 1 in hits("language", some, "c")


@pytest.mark.parametrize(
    ("pair", "stock", "hit"),
    [
        ("it-en", "According to the governor {n} farms lie idle.", []),
        ("it-en", "Gladly, what you asked for follows. {n} farms lie idle.", [1, 2, 3]),
        ("it-ja", "かしこまりました、次のとおりです。{n}軒が休んでいる。", [1, 2, 3]),
        ("it-ja", "知事によると、この地域の{n}軒が休んでいる。", []),
    ],
)
def test_a_turn_of_phrase_is_no_answer(pair: str, stock: str, hit: list[int]):
    outputs = [
        *(stock.format(n=n) for n in range(3)),
        *[f"Number {n} of them is here." for n in range(97)],
    ]
    beside = [f"The governor says {n} farms rest." for n in range(100)]
    sources = [f"{n * 37} ferme" for n in range(100)]
    few = {"b": beside, "c": beside}
    many = {**few, "d": beside, "e": beside}
    said = [texts(outputs, beside, sources, pair, **pool) for pool in (few, many)]
    assert [hits("not-a-translation", one) for one in said] == [[], hit]


def test_what_kinds_compare_is_a_feature_of_any_text():
    some = annotate(["Siehe www.a.org (1.234 „Tags“)", "三百 <b>"], ["check:*"]).spans
    marked = {name: [(one.start, one.end) for one in some.spans(0, name)] for name in some.features}
    assert marked["check:address"] == [(6, 15)]
    assert marked["check:number"] == [(17, 22)]
    assert marked["check:quote"] == [(23, 24), (28, 29)]
    assert [len(some.spans(1, name)) for name in ("check:tag", "check:number")] == [1, 0]
    with pytest.raises(UnknownNameError, match="check:number"):
        annotate(["x"], ["check:numbers"])
