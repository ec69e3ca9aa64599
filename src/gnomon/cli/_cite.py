"""``gnomon --cite``: the papers behind the methods."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["PAPERS", "CiteAction"]

PAPERS = """\
@inproceedings{karidi-etal-2023-muler,
  title     = {{MuLER}: Detailed and Scalable Reference-based Evaluation},
  author    = {Karidi, Taelin and Choshen, Leshem and Patel, Gal and Abend, Omri},
  booktitle = {Proceedings of the 27th Conference on Computational Natural Language Learning},
  year      = {2023}
}

@inproceedings{zhan-etal-2021-difficulty,
  title     = {Difficulty-Aware Machine Translation Evaluation},
  author    = {Zhan, Runzhe and Liu, Xuebo and Wong, Derek F. and Chao, Lidia S.},
  booktitle = {Proceedings of ACL-IJCNLP 2021, Volume 2: Short Papers},
  year      = {2021}
}

@article{leiter-etal-2022-bmx,
  title     = {{BMX}: Boosting Natural Language Generation Metrics with Explainability},
  author    = {Leiter, Christoph and Nguyen, Hoa and Eger, Steffen},
  journal   = {arXiv preprint},
  year      = {2022}
}

@inproceedings{bawden-etal-2020-study,
  title     = {A Study in Improving {BLEU} Reference Coverage with Diverse Automatic Paraphrasing},
  author    = {Bawden, Rachel and Zhang, Biao and Yankovskaya, Lisa and T{\\"a}ttar, Andre and
               Post, Matt},
  booktitle = {Findings of the Association for Computational Linguistics: EMNLP 2020},
  year      = {2020}
}

@inproceedings{zhang-etal-2020-bertscore,
  title     = {{BERTScore}: Evaluating Text Generation with {BERT}},
  author    = {Zhang, Tianyi and Kishore, Varsha and Wu, Felix and Weinberger, Kilian Q. and
               Artzi, Yoav},
  booktitle = {International Conference on Learning Representations},
  year      = {2020}
}

@inproceedings{post-2018-call,
  title     = {A Call for Clarity in Reporting {BLEU} Scores},
  author    = {Post, Matt},
  booktitle = {Proceedings of the Third Conference on Machine Translation},
  year      = {2018}
}
"""


class CiteAction(argparse.Action):
    """Print the papers and stop."""

    def __init__(self, option_strings: list[str], dest: str, help: str | None = None) -> None:  # noqa: A002  # argparse's name
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,  # noqa: ARG002  # argparse's signature
        values: str | Sequence[object] | None,  # noqa: ARG002  # likewise
        option_string: str | None = None,  # noqa: ARG002  # likewise
    ) -> None:
        """Print, then exit with 0."""
        sys.stdout.write(PAPERS)
        parser.exit()
