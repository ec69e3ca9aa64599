"""Judges: how language models judge translations and summaries, and how reliable they are.

The room is callable as its main method: ``gnomon.judges(...)`` is ``gnomon.judges.spread``.
Everything public is listed in ``__all__``; names are imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.doors import callable_room, door

if TYPE_CHECKING:
    from gnomon.judges.calibration import Anchors as Anchors
    from gnomon.judges.calibration import Calibration as Calibration
    from gnomon.judges.calibration import fit_calibration as fit_calibration
    from gnomon.judges.calibration import left_out_predictions as left_out_predictions
    from gnomon.judges.calibration import read_anchors as read_anchors
    from gnomon.judges.client import ChatAnswer as ChatAnswer
    from gnomon.judges.client import ChatClient as ChatClient
    from gnomon.judges.client import ChatQuestion as ChatQuestion
    from gnomon.judges.client import ChatServer as ChatServer
    from gnomon.judges.client import ServerIdentity as ServerIdentity
    from gnomon.judges.client import answers_folder as answers_folder
    from gnomon.judges.endpoints import Endpoint as Endpoint
    from gnomon.judges.endpoints import network_allowed as network_allowed
    from gnomon.judges.injections import INJECTIONS as INJECTIONS
    from gnomon.judges.injections import Injection as Injection
    from gnomon.judges.injections import probe as probe
    from gnomon.judges.intervals import spread as spread
    from gnomon.judges.metric import BoundChatJudge as BoundChatJudge
    from gnomon.judges.metric import BoundMarkingJudge as BoundMarkingJudge
    from gnomon.judges.metric import ChatJudge as ChatJudge
    from gnomon.judges.noise import JudgeNoise as JudgeNoise
    from gnomon.judges.noise import judge_noise as judge_noise
    from gnomon.judges.pairs import pairwise as pairwise
    from gnomon.judges.peoples_scale import calibrate as calibrate
    from gnomon.judges.replies import JudgeReply as JudgeReply
    from gnomon.judges.replies import QuotedError as QuotedError
    from gnomon.judges.replies import json_objects as json_objects
    from gnomon.judges.replies import located as located
    from gnomon.judges.replies import read_reply as read_reply
    from gnomon.judges.rubrics import FENCES as FENCES
    from gnomon.judges.rubrics import Rubric as Rubric
    from gnomon.judges.rubrics import fill_places as fill_places
    from gnomon.judges.rubrics import find_rubric as find_rubric
    from gnomon.judges.rubrics import language_names as language_names
    from gnomon.judges.rubrics import rubric_names as rubric_names

__getattr__, __dir__, __all__ = door(__name__)

callable_room(__name__, "spread")
