//! Who leads to whom: the written order and its jumps, or the graph of `after`. Cycles are found in one pass.

use super::names::Names;
use super::{Compiler, MissingParts};
use crate::document::Step;
use crate::findings::{Findings, quoted};
use crate::problem::{Code, Problem, pointer};
use crate::{END, OnTimeout, Order, Target, document};

pub(super) struct Links {
    order: Order,
    after: Vec<Vec<u16>>,
    before: Vec<Vec<u16>>,
    incomplete: bool,
}

impl Links {
    pub(super) fn new(
        steps: &[Step],
        names: &Names<'_>,
        missing_parts: MissingParts,
        findings: &mut Findings,
    ) -> Links {
        let is_graph = steps.iter().any(|step| step.after.is_some());
        let order = if is_graph { Order::Graph } else { Order::Sequence };
        let none = vec![Vec::new(); steps.len()];
        let mut links = Links { order, after: none.clone(), before: none, incomplete: missing_parts.links };
        if is_graph && !missing_parts.links {
            for (index, step) in (0..).zip(steps) {
                links.after[usize::from(index)] = resolve_after(index, step, names, findings);
            }
            for (index, after) in (0..).zip(&links.after) {
                for earlier in after {
                    links.before[usize::from(*earlier)].push(index);
                }
            }
            links.report_cycles(names, findings);
        }
        links
    }

    /// Nothing can be said about targets.
    pub(super) fn are_doubtful(&self) -> bool {
        self.incomplete
    }

    pub(super) fn order(&self) -> Order {
        self.order
    }

    pub(super) fn after(&self, index: u16) -> &[u16] {
        &self.after[usize::from(index)]
    }

    pub(super) fn before(&self, index: u16) -> &[u16] {
        &self.before[usize::from(index)]
    }

    /// Where the written order goes on.
    pub(super) fn following(&self, index: u16) -> Target {
        let next = index + 1;
        if self.order == Order::Sequence && usize::from(next) < self.after.len() {
            Target::Step(next)
        } else {
            Target::End
        }
    }

    /// What is left when the steps that can run are taken away, again and again, is cycles and what hangs on them.
    fn report_cycles(&self, names: &Names<'_>, findings: &mut Findings) {
        let mut waits_for: Vec<usize> = self.after.iter().map(Vec::len).collect();
        let mut ready: Vec<u16> =
            (0..).zip(&waits_for).filter(|(_, count)| **count == 0).map(|(index, _)| index).collect();
        while let Some(done) = ready.pop() {
            for later in self.before(done) {
                waits_for[usize::from(*later)] -= 1;
                if waits_for[usize::from(*later)] == 0 {
                    ready.push(*later);
                }
            }
        }
        let stuck = |index: u16| waits_for[usize::from(index)] > 0;
        let mut walk_of: Vec<Option<u16>> = vec![None; self.after.len()];
        for start in (0..).zip(&self.after).map(|(index, _)| index).filter(|index| stuck(*index)) {
            if let Some(cycle) = self.walk_back(start, stuck, &mut walk_of) {
                findings.problem(|| cycle_problem(&cycle, names));
            }
        }
    }

    /// Goes back from a stuck step, always to a stuck one, until it meets this walk (a cycle) or an earlier walk.
    fn walk_back(
        &self,
        start: u16,
        stuck: impl Fn(u16) -> bool,
        walk_of: &mut [Option<u16>],
    ) -> Option<Vec<u16>> {
        let mut path = Vec::new();
        let mut at = start;
        while walk_of[usize::from(at)].is_none() {
            walk_of[usize::from(at)] = Some(start);
            path.push(at);
            at = *self
                .after(at)
                .iter()
                .find(|earlier| stuck(**earlier))
                .expect("a stuck step waits for a stuck step");
        }
        if walk_of[usize::from(at)] != Some(start) {
            return None;
        }
        let begins = path.iter().position(|index| *index == at).expect("the walk has met itself");
        let mut cycle = path.split_off(begins);
        cycle.reverse();
        Some(cycle)
    }
}

fn resolve_after(index: u16, step: &Step, names: &Names<'_>, findings: &mut Findings) -> Vec<u16> {
    let mut resolved: Vec<u16> = Vec::new();
    for (entry, name) in step.after.iter().flatten().enumerate() {
        let at = || pointer(&format!("/steps/{index}/after"), entry);
        match names.index(name) {
            None => findings.problem(|| names.unknown(at(), name)),
            Some(own) if own == index => findings.problem(|| {
                let message = format!("the step {} cannot be after itself", quoted(name));
                Problem::new(at(), Code::Cycle, message)
            }),
            Some(twice) if resolved.contains(&twice) => findings.problem(|| {
                Problem::new(at(), Code::DuplicateName, format!("{} is named twice", quoted(name)))
            }),
            Some(earlier) => resolved.push(earlier),
        }
    }
    resolved
}

fn cycle_problem(cycle: &[u16], names: &Names<'_>) -> Problem {
    /// A cycle through a thousand steps is not read to its end.
    const SHOWN: usize = 20;
    let first = cycle.iter().enumerate().min_by_key(|(_, index)| **index).map_or(0, |(place, _)| place);
    let in_order = || cycle[first..].iter().chain(&cycle[..first]);
    let mut shown: Vec<String> = in_order().take(SHOWN).map(|index| quoted(names.name(*index))).collect();
    if cycle.len() > SHOWN {
        shown.push(format!("… {} more …", cycle.len() - SHOWN));
    }
    shown.push(shown[0].clone());
    let message = format!("these steps wait for each other: {}", shown.join(" → "));
    Problem::new(format!("/steps/{}/after", cycle[first]), Code::Cycle, message)
        .expected("steps that do not, through others, wait for themselves")
}

impl Compiler<'_> {
    /// Where a jump from this step leads: further down or, in a graph, to a step that is after this one.
    pub(super) fn target(&mut self, at: &str, name: &str) -> Option<Target> {
        if name == END || self.links.are_doubtful() {
            return Some(Target::End);
        }
        let from = self.place.step;
        let Some(to) = self.names.index(name) else {
            self.findings.problem(|| self.names.unknown(at, name));
            return None;
        };
        let own = self.names.name(from);
        match self.links.order {
            Order::Sequence if to <= from => {
                self.findings.problem(|| {
                    let message =
                        format!("the step {} is not further down than {}", quoted(name), quoted(own));
                    Problem::new(at, Code::BackwardJump, message)
                        .expected(format!("a later step, or `{END}`"))
                });
                None
            }
            Order::Graph if !self.links.after(to).contains(&from) => {
                self.findings.problem(|| {
                    let message = format!("the target {} must be after this step", quoted(name));
                    Problem::new(at, Code::BackwardJump, message).expected(format!(
                        "{} in the `after` of {}",
                        quoted(own),
                        quoted(name)
                    ))
                });
                None
            }
            Order::Sequence | Order::Graph => Some(Target::Step(to)),
        }
    }

    pub(super) fn on_timeout(
        &mut self,
        field: &str,
        given: Option<&document::OnTimeout>,
    ) -> Option<OnTimeout> {
        match given {
            None => None,
            Some(document::OnTimeout::Fail) => Some(OnTimeout::Fail),
            Some(document::OnTimeout::Continue) => Some(OnTimeout::Continue),
            Some(document::OnTimeout::Goto(name)) => self.goto(field, name).map(OnTimeout::Goto),
        }
    }

    pub(super) fn goto(&mut self, field: &str, name: &str) -> Option<Target> {
        let at = pointer(&self.place.field(field), "goto");
        if self.place.in_map {
            self.findings.problem(|| {
                Problem::new(at, Code::Contradiction, "an item of a `map` cannot jump out of it")
                    .expected("`fail` or `continue`")
            });
            return None;
        }
        self.target(&at, name)
    }
}
