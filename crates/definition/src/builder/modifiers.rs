//! What can be said about the step that was added last.

use serde_json::Value;

use super::{Length, Names, kinds};
use crate::document::{
    OnApprovalTimeout, OnItemFailure, OnTimeout, Respond, Retry, Step, StepKind, Workflow,
};
use crate::problem::{Code, Problem};

/// Every step.
impl Workflow {
    /// The step starts when these steps are done. Makes the workflow a graph.
    pub fn after(self, steps: impl Names) -> Workflow {
        self.last("after", |step| step.after.get_or_insert_default().extend(steps.into_names()))
    }

    /// The step is after no other: in a graph it starts at once.
    pub fn at_once(self) -> Workflow {
        self.last("at_once", |step| step.after = Some(Vec::new()))
    }

    /// The step to go on with, further down, or `end`.
    pub fn next(self, step_name: impl Into<String>) -> Workflow {
        self.last("next", |step| step.next = Some(step_name.into()))
    }

    /// When the expression is false, the step is skipped.
    pub fn when(self, expression: impl Into<String>) -> Workflow {
        self.last("when", |step| step.when = Some(expression.into()))
    }

    /// The key of `state` under which the step's result is stored.
    pub fn save_as(self, key: impl Into<String>) -> Workflow {
        self.last("save_as", |step| step.save_as = Some(key.into()))
    }

    /// How often, and after what time, the last step is tried again.
    pub fn retry(self, retry: Retry) -> Workflow {
        self.last("retry", |step| step.retry = Some(retry))
    }

    /// What the last step is for, in words for people.
    pub fn step_description(self, description: impl Into<String>) -> Workflow {
        self.last("step_description", |step| step.description = Some(description.into()))
    }
}

/// Steps that work.
impl Workflow {
    /// How long the step may take or wait.
    pub fn timeout(mut self, length: impl Into<Length>) -> Workflow {
        let (ms, text) = self.length(length.into(), "timeoutMs", self.last_pointer());
        self.of_kind("timeout", "a step that works or waits for somebody", |kind| {
            kinds::timeout(kind).map(|(in_ms, as_text)| {
                *in_ms = ms;
                *as_text = text;
            })
        })
    }

    /// A task's worker is taken for lost when it has not reported for this long.
    pub fn heartbeat(mut self, length: impl Into<Length>) -> Workflow {
        let (ms, text) = self.length(length.into(), "heartbeatMs", self.last_pointer());
        self.of_kind("heartbeat", "a `task`", |kind| {
            kinds::task(kind).map(|task| {
                task.heartbeat_ms = ms;
                task.heartbeat = text;
            })
        })
    }

    /// Only workers of the build that takes the task first are given it again.
    pub fn pin_to_build(self) -> Workflow {
        self.of_kind("pin_to_build", "a `task`", |kind| {
            kinds::task(kind).map(|task| task.pin_to_build = Some(true))
        })
    }

    /// What a task or a child run gets as its input; templates allowed.
    pub fn input(self, value: impl Into<Value>) -> Workflow {
        self.of_kind("input", "a `task` or a `workflow`", |kind| {
            kinds::input(kind).map(|input| *input = Some(value.into()))
        })
    }

    /// Settings for a task's handler; templates allowed.
    pub fn config(self, config: impl Into<Value>) -> Workflow {
        self.of_kind("config", "a `task`", |kind| {
            kinds::task(kind).map(|task| task.config = Some(config.into()))
        })
    }

    /// The version of a child's definition.
    pub fn child_version(self, version: impl Into<String>) -> Workflow {
        self.of_kind("child_version", "a `workflow`", |kind| {
            kinds::child(kind).map(|child| child.version = Some(version.into()))
        })
    }

    /// Starts a child run and goes on at once.
    pub fn without_waiting(self) -> Workflow {
        self.of_kind("without_waiting", "a `workflow`", |kind| {
            kinds::child(kind).map(|child| child.wait = Some(false))
        })
    }

    /// How many items of a `map` at a time.
    pub fn concurrency(self, items: u32) -> Workflow {
        self.of_kind("concurrency", "a `map`", |kind| {
            kinds::map(kind).map(|map| map.concurrency = Some(items))
        })
    }

    /// A failed item of a `map` does not fail the step.
    pub fn collect_failures(self) -> Workflow {
        self.of_kind("collect_failures", "a `map`", |kind| {
            kinds::map(kind).map(|map| map.on_item_failure = Some(OnItemFailure::Collect))
        })
    }
}

/// Steps that wait, or choose.
impl Workflow {
    /// What happens when the time is over.
    pub fn on_timeout(self, outcome: impl Into<OnApprovalTimeout>) -> Workflow {
        let outcome = outcome.into();
        self.of_kind("on_timeout", "a step that waits for somebody", |kind| {
            if let Some(approval) = kinds::approval(kind) {
                approval.on_timeout = Some(outcome);
                return Some(());
            }
            let outcome = match outcome {
                OnApprovalTimeout::Fail => OnTimeout::Fail,
                OnApprovalTimeout::Continue => OnTimeout::Continue,
                OnApprovalTimeout::Goto(step) => OnTimeout::Goto(step),
                OnApprovalTimeout::Approve | OnApprovalTimeout::Reject => return None,
            };
            kinds::on_timeout(kind).map(|on_timeout| *on_timeout = Some(outcome))
        })
    }

    /// The zone of a `cron`.
    pub fn timezone(self, zone: impl Into<String>) -> Workflow {
        self.of_kind("timezone", "a `wait` for a `cron` line", |kind| {
            kinds::cron(kind).map(|wait| wait.timezone = Some(zone.into()))
        })
    }

    /// Where a condition goes on when it is false.
    pub fn otherwise(self, false_step: impl Into<String>) -> Workflow {
        self.of_kind("otherwise", "a `condition`", |kind| {
            kinds::condition(kind).map(|condition| condition.false_step = Some(false_step.into()))
        })
    }

    /// Only events for which the expression is true count.
    pub fn matching(self, expression: impl Into<String>) -> Workflow {
        self.of_kind("matching", "a `wait_for_event`", |kind| {
            kinds::event(kind).map(|event| event.r#match = Some(expression.into()))
        })
    }

    /// Events received up to this long before the wait begins count too.
    pub fn lookback(mut self, length: impl Into<Length>) -> Workflow {
        let (ms, text) = self.length(length.into(), "lookbackMs", self.last_pointer());
        self.of_kind("lookback", "a `wait_for_event`", |kind| {
            kinds::event(kind).map(|event| {
                event.lookback_ms = ms;
                event.lookback = text;
            })
        })
    }

    /// The reply a `webhook` gives at once to the caller that started the run.
    pub fn response_to_send(self, reply: Respond) -> Workflow {
        self.of_kind("response_to_send", "a `webhook`", |kind| {
            kinds::webhook(kind).map(|webhook| webhook.response_to_send = Some(reply))
        })
    }

    /// Lets a plain GET resume a `webhook`.
    pub fn allow_get(self) -> Workflow {
        self.of_kind("allow_get", "a `webhook`", |kind| {
            kinds::webhook(kind).map(|webhook| webhook.allow_get = true)
        })
    }

    /// Lets whoever has the link of a `webhook` call it with `/sync`, and get what the run says next.
    pub fn allow_sync(self) -> Workflow {
        self.of_kind("allow_sync", "a `webhook`", |kind| {
            kinds::webhook(kind).map(|webhook| webhook.allow_sync = true)
        })
    }

    /// Headers of the call that a `webhook` keeps, beside the usual ones.
    pub fn keep_headers(self, names: impl IntoIterator<Item = impl Into<String>>) -> Workflow {
        let names = names.into_iter().map(Into::into).collect();
        self.of_kind("keep_headers", "a `webhook`", |kind| {
            kinds::webhook(kind).map(|webhook| webhook.keep_headers = Some(names))
        })
    }

    /// What an `approval` asks; templates allowed.
    pub fn prompt(self, prompt: impl Into<String>) -> Workflow {
        self.of_kind("prompt", "an `approval`", |kind| {
            kinds::approval(kind).map(|approval| approval.prompt = Some(prompt.into()))
        })
    }

    /// Who may decide.
    pub fn approvers(self, approvers: impl Names) -> Workflow {
        self.of_kind("approvers", "an `approval`", |kind| {
            kinds::approval(kind).map(|approval| approval.approvers = Some(approvers.into_names()))
        })
    }

    /// How many must approve.
    pub fn quorum(self, quorum: u32) -> Workflow {
        self.of_kind("quorum", "an `approval`", |kind| {
            kinds::approval(kind).map(|approval| approval.quorum = Some(quorum))
        })
    }

    /// Whoever started the run does not decide.
    pub fn forbid_self_approval(self) -> Workflow {
        self.of_kind("forbid_self_approval", "an `approval`", |kind| {
            kinds::approval(kind).map(|approval| approval.allow_self_approval = Some(false))
        })
    }

    /// When those who may decide are reminded, after they were asked.
    pub fn remind_after(self, lengths: impl Names) -> Workflow {
        self.of_kind("remind_after", "an `approval`", |kind| {
            kinds::approval(kind).map(|approval| approval.remind_after = Some(lengths.into_names()))
        })
    }

    /// Who may decide too, so long after it was asked.
    pub fn escalate(self, after: impl Into<String>, to: impl Names) -> Workflow {
        self.of_kind("escalate", "an `approval`", |kind| {
            kinds::approval(kind).map(|approval| {
                approval.escalate_after = Some(after.into());
                approval.escalate_to = Some(to.into_names());
            })
        })
    }

    /// What happens when the approval is rejected.
    pub fn on_reject(self, outcome: OnTimeout) -> Workflow {
        self.of_kind("on_reject", "an `approval`", |kind| {
            kinds::approval(kind).map(|approval| approval.on_reject = Some(outcome))
        })
    }
}

impl Workflow {
    pub(super) fn last_pointer(&self) -> String {
        match self.steps.len() {
            0 => String::new(),
            count => format!("/steps/{}", count - 1),
        }
    }

    fn last(mut self, modifier: &str, change: impl FnOnce(&mut Step)) -> Workflow {
        match self.steps.last_mut() {
            Some(step) => change(step),
            None => self.misfits.push(no_step(modifier)),
        }
        self
    }

    /// Changes the last step, if it is of the kind that `change` is about.
    pub(super) fn of_kind(
        mut self,
        modifier: &str,
        fits: &str,
        change: impl FnOnce(&mut StepKind) -> Option<()>,
    ) -> Workflow {
        let at = self.last_pointer();
        match self.steps.last_mut() {
            None => self.misfits.push(no_step(modifier)),
            Some(step) => {
                let kind = step.kind.type_name();
                if change(&mut step.kind).is_none() {
                    let message =
                        format!("`{modifier}` says nothing about the `{kind}` step `{}`", step.name);
                    self.misfits.push(Problem::new(at, Code::Contradiction, message).expected(fits));
                }
            }
        }
        self
    }
}

fn no_step(modifier: &str) -> Problem {
    Problem::new("", Code::Contradiction, format!("`{modifier}` is about a step, and there is none yet"))
}
