"""Judges: measure the reliability of language models as judges, and calibrate them.

The package is callable as its main method: ``gnomon.judges(...)`` is
``gnomon.judges.reliability``.
Everything public is listed in ``__all__``; names are imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.lazy import callable_package, lazy_exports

if TYPE_CHECKING:
    from gnomon.judges.batches import BatchResults as BatchResults
    from gnomon.judges.batches import read_batch as read_batch
    from gnomon.judges.calibration import Anchors as Anchors
    from gnomon.judges.calibration import Calibration as Calibration
    from gnomon.judges.calibration import fit_calibration as fit_calibration
    from gnomon.judges.calibration import predict_left_out as predict_left_out
    from gnomon.judges.calibration import read_anchors as read_anchors
    from gnomon.judges.client import ChatAnswer as ChatAnswer
    from gnomon.judges.client import ChatClient as ChatClient
    from gnomon.judges.client import ChatQuestion as ChatQuestion
    from gnomon.judges.client import ChatServer as ChatServer
    from gnomon.judges.client import ServerIdentity as ServerIdentity
    from gnomon.judges.client import answers_folder as answers_folder
    from gnomon.judges.costs import CostEstimate as CostEstimate
    from gnomon.judges.costs import TokensUsed as TokensUsed
    from gnomon.judges.costs import estimated_cost as estimated_cost
    from gnomon.judges.costs import tokens_used as tokens_used
    from gnomon.judges.endpoints import Endpoint as Endpoint
    from gnomon.judges.endpoints import network_allowed as network_allowed
    from gnomon.judges.human_scale import calibrate as calibrate
    from gnomon.judges.injections import INJECTIONS as INJECTIONS
    from gnomon.judges.injections import Injection as Injection
    from gnomon.judges.judge_reliability import reliability as reliability
    from gnomon.judges.metric import BoundChatJudge as BoundChatJudge
    from gnomon.judges.metric import BoundMarkingJudge as BoundMarkingJudge
    from gnomon.judges.metric import ChatJudge as ChatJudge
    from gnomon.judges.noise import JudgeNoise as JudgeNoise
    from gnomon.judges.noise import judge_noise as judge_noise
    from gnomon.judges.panels import BoundJudgePanel as BoundJudgePanel
    from gnomon.judges.panels import JudgePanel as JudgePanel
    from gnomon.judges.planned import PlannedServer as PlannedServer
    from gnomon.judges.planned import RequestPlan as RequestPlan
    from gnomon.judges.planned import planned_requests as planned_requests
    from gnomon.judges.replies import JudgeReply as JudgeReply
    from gnomon.judges.replies import QuotedError as QuotedError
    from gnomon.judges.replies import json_objects as json_objects
    from gnomon.judges.replies import located as located
    from gnomon.judges.replies import read_reply as read_reply
    from gnomon.judges.rubric_files import find_rubric as find_rubric
    from gnomon.judges.rubric_files import rubric_names as rubric_names
    from gnomon.judges.rubrics import FENCES as FENCES
    from gnomon.judges.rubrics import Rubric as Rubric
    from gnomon.judges.rubrics import fill_places as fill_places
    from gnomon.judges.rubrics import language_names as language_names

__getattr__, __dir__, __all__ = lazy_exports(__name__)

callable_package(__name__, "reliability")
