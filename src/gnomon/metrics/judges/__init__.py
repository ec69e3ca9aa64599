"""Judges: measure how reliable language models are as judges, and calibrate them.

The package is callable as its main method: ``gnomon.judges(...)`` is
``gnomon.judges.reliability``.
Everything public is listed in ``__all__``; names are imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.lazy import callable_package, lazy_exports

if TYPE_CHECKING:
    from gnomon.metrics.judges.batches import BatchResults as BatchResults
    from gnomon.metrics.judges.batches import read_batch as read_batch
    from gnomon.metrics.judges.calibration import Anchors as Anchors
    from gnomon.metrics.judges.calibration import Calibration as Calibration
    from gnomon.metrics.judges.calibration import fit_calibration as fit_calibration
    from gnomon.metrics.judges.calibration import left_out_predictions as left_out_predictions
    from gnomon.metrics.judges.calibration import read_anchors as read_anchors
    from gnomon.metrics.judges.client import ChatAnswer as ChatAnswer
    from gnomon.metrics.judges.client import ChatClient as ChatClient
    from gnomon.metrics.judges.client import ChatQuestion as ChatQuestion
    from gnomon.metrics.judges.client import ChatServer as ChatServer
    from gnomon.metrics.judges.client import ServerIdentity as ServerIdentity
    from gnomon.metrics.judges.client import answers_folder as answers_folder
    from gnomon.metrics.judges.costs import CostEstimate as CostEstimate
    from gnomon.metrics.judges.costs import TokensUsed as TokensUsed
    from gnomon.metrics.judges.costs import estimated_cost as estimated_cost
    from gnomon.metrics.judges.costs import tokens_used as tokens_used
    from gnomon.metrics.judges.endpoints import Endpoint as Endpoint
    from gnomon.metrics.judges.endpoints import network_allowed as network_allowed
    from gnomon.metrics.judges.human_scale import calibrate as calibrate
    from gnomon.metrics.judges.injections import INJECTIONS as INJECTIONS
    from gnomon.metrics.judges.injections import Injection as Injection
    from gnomon.metrics.judges.judge_reliability import reliability as reliability
    from gnomon.metrics.judges.metric import BoundChatJudge as BoundChatJudge
    from gnomon.metrics.judges.metric import BoundMarkingJudge as BoundMarkingJudge
    from gnomon.metrics.judges.metric import ChatJudge as ChatJudge
    from gnomon.metrics.judges.noise import JudgeNoise as JudgeNoise
    from gnomon.metrics.judges.noise import judge_noise as judge_noise
    from gnomon.metrics.judges.panels import BoundJudgePanel as BoundJudgePanel
    from gnomon.metrics.judges.panels import JudgePanel as JudgePanel
    from gnomon.metrics.judges.planned import PlannedServer as PlannedServer
    from gnomon.metrics.judges.planned import RequestPlan as RequestPlan
    from gnomon.metrics.judges.planned import planned_requests as planned_requests
    from gnomon.metrics.judges.replies import JudgeReply as JudgeReply
    from gnomon.metrics.judges.replies import QuotedError as QuotedError
    from gnomon.metrics.judges.replies import json_objects as json_objects
    from gnomon.metrics.judges.replies import located as located
    from gnomon.metrics.judges.replies import read_reply as read_reply
    from gnomon.metrics.judges.rubric_files import find_rubric as find_rubric
    from gnomon.metrics.judges.rubric_files import rubric_names as rubric_names
    from gnomon.metrics.judges.rubrics import FENCES as FENCES
    from gnomon.metrics.judges.rubrics import Rubric as Rubric
    from gnomon.metrics.judges.rubrics import fill_places as fill_places
    from gnomon.metrics.judges.rubrics import language_names as language_names

__getattr__, __dir__, __all__ = lazy_exports(__name__)

callable_package(__name__, "reliability")
