"""abide for Python: a client, a worker, durable code in handlers, and workflows written in code."""

from .branch import Branch
from .call import DurableCall, Limit, Retry
from .check import InvalidWorkflow, WorkflowProblem
from .client import Client, RunHandle
from .context import Approval, Call, Context, First, HttpResponse, RequestedApproval, Waitpoint
from .duration import Duration, Instant
from .failure import (
    BranchLost,
    CallFailed,
    Cancelled,
    ChildFailed,
    CodeChanged,
    Misused,
    NotRetryable,
    RetryAfter,
    RunFailed,
    Suspended,
    SuspensionSwallowed,
    TaskError,
    WaitCancelled,
)
from .middleware import Middleware, MiddlewareCall, Next
from .problem import (
    Busy,
    Conflict,
    Gone,
    Invalid,
    NotAllowed,
    NotFound,
    Problem,
    RunNotCompleted,
    Unreachable,
)
from .resources import Page, Pages
from .sync_context import SyncContext
from .wait import Pending, Wait
from .wire import Json
from .worker import Worker
from .workflow import Workflow

__all__ = [
    "Approval",
    "Branch",
    "BranchLost",
    "Busy",
    "Call",
    "CallFailed",
    "Cancelled",
    "ChildFailed",
    "Client",
    "CodeChanged",
    "Conflict",
    "Context",
    "DurableCall",
    "Duration",
    "First",
    "Gone",
    "HttpResponse",
    "Instant",
    "Invalid",
    "InvalidWorkflow",
    "Json",
    "Limit",
    "Middleware",
    "MiddlewareCall",
    "Misused",
    "Next",
    "NotAllowed",
    "NotFound",
    "NotRetryable",
    "Page",
    "Pages",
    "Pending",
    "Problem",
    "RequestedApproval",
    "Retry",
    "RetryAfter",
    "RunFailed",
    "RunHandle",
    "RunNotCompleted",
    "Suspended",
    "SuspensionSwallowed",
    "SyncContext",
    "TaskError",
    "Unreachable",
    "Wait",
    "WaitCancelled",
    "Waitpoint",
    "Worker",
    "Workflow",
    "WorkflowProblem",
]
