//! Steps that wait for several things at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Compiler;
use crate::document::{self, OnRejectedMember, WaitAll, WaitAny, WaitSome};
use crate::findings::quoted;
use crate::limits;
use crate::problem::{Code, Problem, pointer};
use crate::{Action, Deadline, Group, Member, OnTimeout, Target, Wanted};

type Waits = BTreeMap<String, document::Member>;

impl Compiler<'_> {
    pub(super) fn wait_any(&mut self, any: &WaitAny) -> Option<Action> {
        let deadline = self.group_deadline(any.timeout_ms, any.timeout.as_deref(), any.on_timeout.as_ref());
        self.group(Wanted::Any, &any.waits, deadline, any.goto.as_ref())
    }

    pub(super) fn wait_all(&mut self, all: &WaitAll) -> Option<Action> {
        let deadline = self.group_deadline(all.timeout_ms, all.timeout.as_deref(), all.on_timeout.as_ref());
        self.group(Wanted::All, &all.waits, deadline, None)
    }

    pub(super) fn wait_some(&mut self, some: &WaitSome) -> Option<Action> {
        let deadline =
            self.group_deadline(some.timeout_ms, some.timeout.as_deref(), some.on_timeout.as_ref());
        self.group(Wanted::Some(some.count), &some.waits, deadline, some.goto.as_ref())
    }

    fn group_deadline(
        &mut self,
        ms: Option<u64>,
        text: Option<&str>,
        on_timeout: Option<&document::OnTimeout>,
    ) -> Deadline {
        if on_timeout.is_some() && ms.is_none() && text.is_none() {
            let at = self.place.field("onTimeout");
            self.findings.problem(|| {
                Problem::new(at, Code::Contradiction, "the time is never over: there is no `timeout`")
                    .expected("`timeout`, how long the step waits at most")
            });
        }
        self.deadline(ms, text, on_timeout, OnTimeout::Fail)
    }

    fn group(
        &mut self,
        wanted: Wanted,
        waits: &Waits,
        deadline: Deadline,
        goto: Option<&BTreeMap<String, String>>,
    ) -> Option<Action> {
        let goto = goto.map(|goto| self.targets_by_wait(waits, goto)).unwrap_or_default();
        let mut group = self.members(wanted, waits, "", 1)?;
        let count = group.waits().len();
        if count > limits::GROUP_WAITS {
            let at = self.place.field("waits");
            self.findings.problem(|| {
                let message = format!("{count} waits are more than the limit of {}", limits::GROUP_WAITS);
                Problem::new(at, Code::LimitExceeded, message)
            });
            return None;
        }
        for member in &mut group.members {
            member.goto = goto.get(&*member.name).copied();
        }
        group.deadline = deadline;
        Some(Action::Group(Box::new(group)))
    }

    fn targets_by_wait(
        &mut self,
        waits: &Waits,
        goto: &BTreeMap<String, String>,
    ) -> BTreeMap<String, Target> {
        let field = self.place.field("goto");
        let mut targets = BTreeMap::new();
        for (name, step) in goto {
            let at = pointer(&field, name);
            if !waits.contains_key(name) {
                self.findings.problem(|| {
                    let message = format!("there is no wait {} in this step", quoted(name));
                    let known = waits.keys().map(String::as_str);
                    Problem::new(at.clone(), Code::UnknownValue, message)
                        .expected("the name of one of its `waits`")
                        .nearest(name, known)
                });
            }
            targets.extend(self.target(&at, step).map(|target| (name.clone(), target)));
        }
        targets
    }

    fn members(&mut self, wanted: Wanted, waits: &Waits, above: &str, depth: usize) -> Option<Group> {
        let field = self.place.field("waits");
        if waits.is_empty() {
            let at = field.clone();
            self.findings.problem(|| {
                Problem::new(at, Code::OutOfRange, "there is nothing to wait for")
                    .expected("at least one wait")
            });
        }
        self.count_fits(wanted, waits.len());
        let outer = self.place.pointer.clone();
        let mut members = Vec::new();
        for (name, written) in waits {
            let at = pointer(&field, name);
            self.member_name(&at, name);
            let path = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
            self.place.pointer = at;
            let action = self.member(written, &path, depth);
            self.place.pointer.clone_from(&outer);
            let (name, path) = (Arc::from(name.as_str()), Arc::from(path));
            members.push(action.map(|action| Member { name, path, action, goto: None }));
        }
        let members: Vec<Member> = members.into_iter().collect::<Option<_>>()?;
        let deadline = Deadline { timeout: None, on_timeout: OnTimeout::Fail };
        Some(Group { wanted, members, deadline })
    }

    fn count_fits(&mut self, wanted: Wanted, waits: usize) {
        let Wanted::Some(count) = wanted else { return };
        if usize::try_from(count).is_ok_and(|count| count > waits) && waits > 0 {
            let at = self.place.field("count");
            self.findings.problem(|| {
                let message = format!("{count} must come, and there are only {waits}");
                Problem::new(at, Code::OutOfRange, message).expected(format!("at most {waits}"))
            });
        }
    }

    fn member(&mut self, written: &document::Member, path: &str, depth: usize) -> Option<Action> {
        match written {
            document::Member::Wait(wait) => self.until(wait).map(Action::Wait),
            document::Member::ExternalEvent(signal) => {
                let signal_type = signal.signal_type.clone();
                Some(self.signal(&document::ExternalEvent { signal_type, ..Default::default() }))
            }
            document::Member::WaitForEvent(event) => self.event(&document::WaitForEvent {
                event_id: event.event_id.clone(),
                r#match: event.r#match.clone(),
                lookback_ms: event.lookback_ms,
                lookback: event.lookback.clone(),
                ..Default::default()
            }),
            document::Member::Webhook(webhook) => Some(self.webhook(&document::Webhook {
                allow_get: webhook.allow_get,
                allow_sync: webhook.allow_sync,
                keep_headers: webhook.keep_headers.clone(),
                ..Default::default()
            })),
            document::Member::Approval(approval) => Some(self.member_approval(approval)),
            document::Member::Workflow(child) => Some(self.child(&document::SubWorkflow {
                definition: child.definition.clone(),
                version: child.version.clone(),
                input: child.input.clone(),
                wait: Some(true),
            })),
            document::Member::WaitAny(any) => self.inner(Wanted::Any, &any.waits, path, depth),
            document::Member::WaitAll(all) => self.inner(Wanted::All, &all.waits, path, depth),
            document::Member::WaitSome(some) => {
                self.inner(Wanted::Some(some.count), &some.waits, path, depth)
            }
        }
    }

    fn inner(&mut self, wanted: Wanted, waits: &Waits, path: &str, depth: usize) -> Option<Action> {
        if depth >= limits::GROUP_DEPTH {
            let at = self.place.pointer.clone();
            self.findings.problem(|| {
                let message = "waits inside waits inside waits are one too deep";
                Problem::new(at, Code::LimitExceeded, message).expected("a wait that has no others inside")
            });
            return None;
        }
        self.members(wanted, waits, path, depth + 1).map(|group| Action::Group(Box::new(group)))
    }

    fn member_approval(&mut self, approval: &document::MemberApproval) -> Action {
        let on_reject = approval.on_reject.map(|on_reject| match on_reject {
            OnRejectedMember::Fail => document::OnTimeout::Fail,
            OnRejectedMember::Continue => document::OnTimeout::Continue,
        });
        self.approval(&document::Approval {
            content_key: approval.content_key.clone(),
            content_schema: approval.content_schema.clone(),
            prompt: approval.prompt.clone(),
            approvers: approval.approvers.clone(),
            allow_self_approval: approval.allow_self_approval,
            quorum: approval.quorum,
            on_reject,
            ..Default::default()
        })
    }

    fn member_name(&mut self, at: &str, name: &str) {
        let chars = name.chars().count();
        let wrong = if !(1..=limits::STEP_NAME_CHARS).contains(&chars) {
            format!("has {chars} characters")
        } else if name.starts_with('$') {
            "begins with `$`, as those that the engine gives".to_owned()
        } else if name.contains('.') {
            "holds a dot, which tells the waits of a group inside".to_owned()
        } else if name.chars().any(char::is_control) || name.trim() != name {
            "holds a control character, or white space around it".to_owned()
        } else {
            return;
        };
        self.findings.problem(|| {
            let expected = format!("1 to {} characters, without a dot", limits::STEP_NAME_CHARS);
            Problem::new(at, Code::OutOfRange, format!("the name {} {wrong}", quoted(name)))
                .expected(expected)
        });
    }
}
