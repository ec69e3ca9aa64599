"""File formats: one segment per line, test set directories, tables, score files.

gnomon's own layout of a test set directory; all but the references (or the sources) is optional::

    src.txt                                one segment per line
    ref.NAME.txt                           one file per reference
    ref.NAME.missing.tsv                   seg: the segments that lack this reference
    systems/NAME.txt                       one file per system
    system-references/SYSTEM/ref.NAME.txt  references of one system alone
    systems.tsv                            system, year, architecture, constrained, human, ...
    documents.tsv                          document, domain, further labels; one row per segment
    human/KIND.LEVEL.tsv                   system[, seg | doc | domain][, rater], the score;
                                           LEVEL is sys, seg, doc or domain
    human/KIND.seg.tsv                     seg, better, worse[, rater]: relative rankings
    human/KIND.spans.tsv                   system, seg, side, start, end, category, severity
                                           [, rater][, score][, confidence][, by]: marked
                                           errors; severity No-error: none was found
    testset.json                           name, language_pair, order of the references; with
                                           names ("ref.1.txt": "A", "systems/2.txt": "B"), names
                                           of files, and no others are read

``.txt`` and ``.tsv`` files may be compressed (``.gz``). Segments count from 1, spans are half-open
code points, an empty cell is a missing value. Without ``testset.json``, a directory ``SET/de-en``
is the set SET for the pair de-en. ``systems.tsv`` gives the order of the systems and may list
systems without a text, which people judged.

What is accepted but worth knowing (a byte order mark, empty segments) is said through the logger
``gnomon.formats``, at the level INFO, and WARNING for what may change a score.
"""

from typing import TYPE_CHECKING

from gnomon.core.lazy import lazy_exports

if TYPE_CHECKING:
    from gnomon.core.testset import Paraphrase as Paraphrase
    from gnomon.data.formats._campaigns import CampaignForm as CampaignForm
    from gnomon.data.formats._campaigns import CampaignItem as CampaignItem
    from gnomon.data.formats._campaigns import campaign_text as campaign_text
    from gnomon.data.formats._declarations import declare_format as declare_format
    from gnomon.data.formats._files import MAX_INPUT as MAX_INPUT
    from gnomon.data.formats._files import atomic_write as atomic_write
    from gnomon.data.formats._files import largest_input as largest_input
    from gnomon.data.formats._files import plain_name as plain_name
    from gnomon.data.formats._files import read_bytes as read_bytes
    from gnomon.data.formats._files import replace_folder as replace_folder
    from gnomon.data.formats._files import unit_format as unit_format
    from gnomon.data.formats._files import write_together as write_together
    from gnomon.data.formats._judged_file import JudgedFile as JudgedFile
    from gnomon.data.formats._judged_file import JudgementOptions as JudgementOptions
    from gnomon.data.formats._judgement_files import Human as Human
    from gnomon.data.formats._judgement_files import add_judgements as add_judgements
    from gnomon.data.formats._judgement_files import human_files as human_files
    from gnomon.data.formats._judgement_files import judged_segments as judged_segments
    from gnomon.data.formats._judgement_files import kind_in_name as kind_in_name
    from gnomon.data.formats._judgement_files import read_human as read_human
    from gnomon.data.formats._judgement_files import recognised_judgements as recognised_judgements
    from gnomon.data.formats._judgement_files import split_name as split_name
    from gnomon.data.formats._judgement_files import write_human as write_human
    from gnomon.data.formats._line_order import Misplaced as Misplaced
    from gnomon.data.formats._line_order import misplaced_lines as misplaced_lines
    from gnomon.data.formats._lines import read_lines as read_lines
    from gnomon.data.formats._lines import read_text as read_text
    from gnomon.data.formats._lines import write_lines as write_lines
    from gnomon.data.formats._mqm import MQM_WEIGHTS as MQM_WEIGHTS
    from gnomon.data.formats._mqm import read_mqm_set as read_mqm_set
    from gnomon.data.formats._paraphrases import add_paraphrases as add_paraphrases
    from gnomon.data.formats._paraphrases import columns_of as columns_of
    from gnomon.data.formats._paraphrases import format_paraphrase as format_paraphrase
    from gnomon.data.formats._paraphrases import method_of as method_of
    from gnomon.data.formats._paraphrases import read_paraphrases as read_paraphrases
    from gnomon.data.formats._paraphrases import write_paraphrases as write_paraphrases
    from gnomon.data.formats._passages import INCOMPLETE as INCOMPLETE
    from gnomon.data.formats._passages import KEEPABLE as KEEPABLE
    from gnomon.data.formats._passages import Incomplete as Incomplete
    from gnomon.data.formats._plain import best_texts as best_texts
    from gnomon.data.formats._plain import is_evaluation_log as is_evaluation_log
    from gnomon.data.formats._plain import log_folders as log_folders
    from gnomon.data.formats._plain import markup_of as markup_of
    from gnomon.data.formats._plain import read_outputs as read_outputs
    from gnomon.data.formats._plain import read_plain as read_plain
    from gnomon.data.formats._plain import read_systems as read_systems
    from gnomon.data.formats._records import read_records as read_records
    from gnomon.data.formats._registry import FolderFormat as FolderFormat
    from gnomon.data.formats._registry import Format as Format
    from gnomon.data.formats._registry import FormatInfo as FormatInfo
    from gnomon.data.formats._registry import FoundSet as FoundSet
    from gnomon.data.formats._registry import JudgementFormat as JudgementFormat
    from gnomon.data.formats._registry import RecordFormat as RecordFormat
    from gnomon.data.formats._registry import ScoreFormat as ScoreFormat
    from gnomon.data.formats._registry import SetFormat as SetFormat
    from gnomon.data.formats._registry import describe as describe
    from gnomon.data.formats._registry import formats_of as formats_of
    from gnomon.data.formats._sacrebleu import SacrebleuSet as SacrebleuSet
    from gnomon.data.formats._sacrebleu import is_sacrebleu_set as is_sacrebleu_set
    from gnomon.data.formats._sacrebleu import read_sacrebleu_files as read_sacrebleu_files
    from gnomon.data.formats._sacrebleu import read_sacrebleu_set as read_sacrebleu_set
    from gnomon.data.formats._sample import Sample as Sample
    from gnomon.data.formats._sample import SampledSegment as SampledSegment
    from gnomon.data.formats._sample import read_sample as read_sample
    from gnomon.data.formats._sample import sample_text as sample_text
    from gnomon.data.formats._sample import write_sample as write_sample
    from gnomon.data.formats._scores import find_scores as find_scores
    from gnomon.data.formats._scores import is_wmt_scores as is_wmt_scores
    from gnomon.data.formats._scores import read_scores as read_scores
    from gnomon.data.formats._scores import write_segment_scores as write_segment_scores
    from gnomon.data.formats._sgml import read_sgml as read_sgml
    from gnomon.data.formats._table import read_frame as read_frame
    from gnomon.data.formats._table import read_table as read_table
    from gnomon.data.formats._table import role_of_name as role_of_name
    from gnomon.data.formats._testsets import SetInfo as SetInfo
    from gnomon.data.formats._testsets import language_pairs as language_pairs
    from gnomon.data.formats._testsets import output_files as output_files
    from gnomon.data.formats._testsets import read_test_set as read_test_set
    from gnomon.data.formats._testsets import sets_in as sets_in
    from gnomon.data.formats._testsets import write_test_set as write_test_set
    from gnomon.data.formats._trees import Child as Child
    from gnomon.data.formats._trees import Tree as Tree
    from gnomon.data.formats._trees import Trees as Trees
    from gnomon.data.formats._trees import parse_tree as parse_tree
    from gnomon.data.formats._trees import read_trees as read_trees
    from gnomon.data.formats._unit_notes import write_unit_notes as write_unit_notes
    from gnomon.data.formats._warnings import warn_of_anomalies as warn_of_anomalies
    from gnomon.data.formats._wmt_xml import read_wmt_xml as read_wmt_xml
    from gnomon.data.formats.pairs import read_pair_scores as read_pair_scores
    from gnomon.data.formats.pairs import read_pairs as read_pairs
    from gnomon.data.formats.pairs import write_pairs as write_pairs
    from gnomon.data.formats.rows import FileHead as FileHead
    from gnomon.data.formats.rows import FileRecord as FileRecord
    from gnomon.data.formats.rows import escape_cell as escape_cell
    from gnomon.data.formats.rows import first_line_of as first_line_of
    from gnomon.data.formats.rows import sheet_rows as sheet_rows
    from gnomon.data.formats.rows import unescape_cell as unescape_cell
    from gnomon.data.formats.spreadsheets import TextRun as TextRun
    from gnomon.data.formats.spreadsheets import Worksheet as Worksheet
    from gnomon.data.formats.spreadsheets import build_workbook as build_workbook
    from gnomon.data.formats.spreadsheets import check_excel as check_excel
    from gnomon.data.formats.spreadsheets import read_worksheet as read_worksheet
    from gnomon.data.formats.unreadable_files import explain_failure as explain_failure

# what is read most does not need all formats

__getattr__, __dir__, __all__ = lazy_exports(__name__, checking=False)
