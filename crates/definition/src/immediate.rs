//! Which workflows a workflow starts at once: before anything in it waits or is worked on. A workflow that comes back to
//! itself in this way would start runs without end, each in the same moment as the one before.

use std::sync::Arc;

use super::{Action, Definition, Executor, Member, Order, Step, Target, Until};
use crate::problem::pointer;

/// A `workflow` step that nothing holds up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartedAtOnce {
    /// Where the step says what it starts.
    pub pointer: String,
    pub definition: Arc<str>,
    /// The newest if absent.
    pub version: Option<Arc<str>>,
}

impl Definition {
    /// The workflows that a run of this one may start before it waits for anything or hands anything out.
    pub fn started_at_once(&self) -> Vec<StartedAtOnce> {
        let reached = match self.order {
            Order::Sequence => self.reached_in_sequence(),
            Order::Graph => self.reached_in_graph(),
        };
        let steps = reached.into_iter().zip(self.steps.iter().enumerate());
        let steps = steps.filter(|(is_reached, _)| *is_reached).map(|(_, step)| step);
        steps.flat_map(|(index, step)| starts(&pointer("/steps", index), &step.action)).collect()
    }

    fn reached_in_sequence(&self) -> Vec<bool> {
        let mut reached = vec![false; self.steps.len()];
        let mut ways = vec![Target::Step(0)];
        while let Some(way) = ways.pop() {
            let Target::Step(index) = way else { continue };
            let Some(is_reached) = reached.get_mut(usize::from(index)) else { continue };
            if std::mem::replace(is_reached, true) {
                continue;
            }
            let step = self.step(index);
            if let Action::Condition { on_true, on_false, .. } = &step.action {
                ways.extend([*on_true, on_false.unwrap_or(step.next)]);
            }
            if goes_on_at_once(step) {
                ways.push(step.next);
            }
        }
        reached
    }

    /// A step is reached when all that it is after are, and are over at once.
    fn reached_in_graph(&self) -> Vec<bool> {
        let mut reached = vec![false; self.steps.len()];
        loop {
            let mut is_more = false;
            for (index, step) in self.steps.iter().enumerate() {
                let is_ready = step
                    .after
                    .iter()
                    .all(|before| reached[usize::from(*before)] && goes_on_at_once(self.step(*before)));
                is_more |= is_ready && !reached[index];
                reached[index] |= is_ready;
            }
            if !is_more {
                return reached;
            }
        }
    }
}

fn starts(at: &str, action: &Action) -> Vec<StartedAtOnce> {
    match action {
        Action::Child { definition, version, .. } => vec![StartedAtOnce {
            pointer: pointer(at, "definition"),
            definition: Arc::clone(definition),
            version: version.clone(),
        }],
        Action::Map(map) => starts(&pointer(at, "step"), &map.step.action),
        Action::Group(group) => {
            let waits = pointer(at, "waits");
            let of = |member: &Member| starts(&pointer(&waits, &member.name), &member.action);
            group.members.iter().flat_map(of).collect()
        }
        Action::Work(_)
        | Action::Wait(_)
        | Action::Condition { .. }
        | Action::Signal { .. }
        | Action::Event { .. }
        | Action::Webhook { .. }
        | Action::Approval(_)
        | Action::Respond { .. } => Vec::new(),
    }
}

/// Whether what follows the step may begin in the same moment. One with `when` may be skipped.
fn goes_on_at_once(step: &Step) -> bool {
    step.when.is_some() || is_over_at_once(&step.action)
}

fn is_over_at_once(action: &Action) -> bool {
    match action {
        Action::Condition { .. } | Action::Respond { .. } | Action::Child { .. } => true,
        Action::Work(work) => work.executor == Executor::Notify,
        Action::Wait(Until::For(length)) => length.0 == 0,
        Action::Map(map) => goes_on_at_once(&map.step),
        Action::Group(group) => {
            let at_once = group.members.iter().filter(|member| is_over_at_once(&member.action));
            at_once.count() >= group.needed()
        }
        Action::Wait(_)
        | Action::Signal { .. }
        | Action::Event { .. }
        | Action::Webhook { .. }
        | Action::Approval(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn started(steps: Value) -> Vec<String> {
        let document = json!({"name": "w", "steps": steps}).to_string();
        let definition = Definition::from_text(&document).expect("a workflow").definition;
        definition
            .started_at_once()
            .into_iter()
            .map(|it| format!("{} {}", it.pointer, it.definition))
            .collect()
    }

    #[test]
    fn what_comes_before_any_wait_is_started_at_once() {
        let child = json!({"type": "workflow", "name": "c", "definition": "other"});
        let wait = json!({"type": "wait", "name": "w", "duration": "1s"});
        let skipped = json!({"type": "wait", "name": "w", "duration": "1s", "when": "input.x"});
        let task = json!({"type": "task", "name": "w", "handler": "h"});
        let inner = json!({"type": "workflow", "definition": "other"});
        let map = json!({"type": "map", "name": "m", "items": "input.x", "step": inner});
        assert_eq!(started(json!([child])), ["/steps/0/definition other"]);
        assert_eq!(started(json!([wait, child])), Vec::<String>::new());
        assert_eq!(started(json!([task, child])), Vec::<String>::new());
        assert_eq!(started(json!([skipped, child])), ["/steps/1/definition other"]);
        assert_eq!(started(json!([map])), ["/steps/0/step/definition other"]);
    }

    #[test]
    fn in_a_graph_a_step_waits_for_all_that_it_is_after() {
        let child =
            |after: Value| json!({"type": "workflow", "name": "c", "definition": "other", "after": after});
        let wait = json!({"type": "wait", "name": "w", "duration": "1s", "after": []});
        let respond = json!({"type": "respond", "name": "r", "body": 1, "after": []});
        assert_eq!(started(json!([wait, respond, child(json!(["r"]))])), ["/steps/2/definition other"]);
        assert_eq!(started(json!([wait, respond, child(json!(["r", "w"]))])), Vec::<String>::new());
    }
}
