"""What the whole pipeline must do on either transport: turns in, answers out, bad input visible, nothing twice.

One worker serves the whole module (`pipeline`), so every test has a `graph` of its own; a test that leaves a log behind
with which no worker can live takes a pipeline of its own (`doomed`).
"""

from __future__ import annotations

from tests.contracts.pipeline_contents import Contents
from tests.contracts.pipeline_conversations import Conversations
from tests.contracts.pipeline_expiry import Expiry
from tests.contracts.pipeline_fold import Folds
from tests.contracts.pipeline_gates import Gates
from tests.contracts.pipeline_lives import Lives
from tests.contracts.pipeline_past import Past
from tests.contracts.pipeline_questions import AT_ONCE, Questions
from tests.contracts.pipeline_quotas import Quotas
from tests.contracts.pipeline_secrets import Secrets
from tests.contracts.pipeline_turns import Turns
from tests.contracts.pipeline_views import Views

WORKER = {"queries_at_once": AT_ONCE}
DOOMED = {"tick_seconds": 0.5}  # what is halted or damaged is tried again every tick: so no test waits ten seconds


class PipelineContract(
    Folds, Past, Expiry, Gates, Lives, Contents, Conversations, Views, Questions, Quotas, Secrets, Turns
):  # pytest runs the last base first
    """Inherit beside two fixtures: `pipeline`, started, one for the module, and `doomed`, one for the test."""
