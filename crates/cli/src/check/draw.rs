//! A workflow drawn in the terminal: a sequence as a line with its jumps, a graph in the layers that run in
//! parallel.

mod describe;

use std::borrow::Cow;
use std::io::{self, Write};

use abide_definition::{Action, Definition, Exits, Order, Step, Target};

use crate::terminal::{self, shortened};
use describe::{description, marker};

const NAME_WIDTH: usize = 40;
const DESCRIPTION_WIDTH: usize = 70;

pub(super) fn definition(definition: &Definition, out: &mut dyn Write) -> io::Result<()> {
    match definition.order {
        Order::Sequence => sequence(definition, out),
        Order::Graph => graph(definition, out),
    }
}

fn sequence(definition: &Definition, out: &mut dyn Write) -> io::Result<()> {
    let width = name_width(definition);
    for (index, step) in (0..).zip(&definition.steps) {
        terminal::line(out, &format!("  {}", step_line(definition, index, width)))?;
        let mut ways = jumps(step);
        let goes_on = !matches!(step.action, Action::Condition { .. });
        let goes_down = goes_on && step.next == Target::Step(index + 1);
        let is_last = usize::from(index) + 1 == definition.steps.len();
        if goes_on && !goes_down && !is_last {
            ways.push(("".into(), step.next));
        }
        for (place, (label, target)) in ways.iter().enumerate() {
            let branch = if goes_down || place + 1 < ways.len() { '├' } else { '╰' };
            terminal::line(out, &format!("  {branch}─{label}→ {}", target_name(definition, *target)))?;
        }
        if goes_down {
            terminal::line(out, "  │")?;
        }
    }
    Ok(())
}

/// The ways on from a step beside the usual one.
fn jumps(step: &Step) -> Vec<(Cow<'static, str>, Target)> {
    if let Action::Condition { on_true, on_false, .. } = &step.action {
        return vec![(" true ".into(), *on_true), (" false ".into(), on_false.unwrap_or(step.next))];
    }
    let Exits { too_late, rejected, by_first } = step.action.exits();
    let by_first = by_first.into_iter().map(|(name, target)| (format!(" {name} ").into(), target));
    let too_late = too_late.map(|target| (" too late ".into(), target));
    let rejected = rejected.map(|target| (" rejected ".into(), target));
    by_first.chain(too_late).chain(rejected).collect()
}

fn graph(definition: &Definition, out: &mut dyn Write) -> io::Result<()> {
    let width = name_width(definition);
    for (layer, indexes) in layers(&definition.steps).iter().enumerate() {
        for (place, index) in indexes.iter().enumerate() {
            let number = if place == 0 { format!("{:>3}", layer + 1) } else { "   ".to_owned() };
            let line = step_line(definition, *index, width);
            let after: Vec<&str> = definition
                .step(*index)
                .after
                .iter()
                .map(|earlier| &*definition.step(*earlier).name)
                .collect();
            let after = if after.is_empty() { String::new() } else { format!("  ← {}", after.join(", ")) };
            terminal::line(out, &format!("{number}  {line}{}", shortened(&after, DESCRIPTION_WIDTH)))?;
            for (label, target) in jumps(definition.step(*index)) {
                terminal::line(out, &format!("     ╰─{label}→ {}", target_name(definition, target)))?;
            }
        }
    }
    Ok(())
}

/// The steps by how many others must be done before them, one after another.
fn layers(steps: &[Step]) -> Vec<Vec<u16>> {
    let mut waits_for: Vec<usize> = steps.iter().map(|step| step.after.len()).collect();
    let mut ready: Vec<u16> =
        (0..).zip(steps).filter(|(_, step)| step.after.is_empty()).map(|(index, _)| index).collect();
    let mut layers = Vec::new();
    while !ready.is_empty() {
        let mut next = Vec::new();
        for later in ready.iter().flat_map(|index| &steps[usize::from(*index)].before) {
            waits_for[usize::from(*later)] -= 1;
            if waits_for[usize::from(*later)] == 0 {
                next.push(*later);
            }
        }
        next.sort_unstable();
        layers.push(std::mem::replace(&mut ready, next));
    }
    layers
}

fn step_line(definition: &Definition, index: u16, width: usize) -> String {
    let step = &definition.document.steps[usize::from(index)];
    let name = shortened(&step.name, NAME_WIDTH);
    let condition = step.when.as_ref().map(|when| format!("  if {when}")).unwrap_or_default();
    let text = shortened(&format!("{}{condition}", description(&step.kind)), DESCRIPTION_WIDTH);
    format!("{} {name:width$}  {text}", marker(&step.kind))
}

fn name_width(definition: &Definition) -> usize {
    definition.steps.iter().map(|step| step.name.chars().count()).max().unwrap_or(0).min(NAME_WIDTH)
}

fn target_name(definition: &Definition, target: Target) -> String {
    match target {
        Target::End => "end".to_owned(),
        Target::Step(index) => shortened(&definition.step(index).name, NAME_WIDTH),
    }
}
