//! Templates that need not be rendered when a step begins. What a step asks for is a copy of the run's data, and a
//! map of ten thousand items would make ten thousand copies at once. Where the data cannot change as long as the step
//! is under way, templates are rendered when the task is handed out, to the same value each time, and never recorded.

use crate::definition::{Action, Order};
use crate::effect::{ChildInput, ChildStart};
use crate::expression::{EvaluationError, SecretPlace, Template};
use crate::id::StepAddress;
use crate::json::Json;
use crate::limits;
use crate::run::Run;
use crate::scope::RunScope;
use crate::status::StepStatus;
use crate::turn::Turn;

pub(crate) enum Rendered {
    Now(Json),
    /// A value that is the same at any time while the step is under way.
    Later,
}

/// Renders a template now, unless it can be rendered later and is large, or so much was rendered that this one is not
/// tried. `holds_state`: the step is under way until the value is needed.
pub(crate) fn render_now_or_later(
    turn: &mut Turn<'_>,
    at: StepAddress,
    template: &Template,
    holds_state: bool,
) -> Result<Rendered, EvaluationError> {
    if let Some(constant) = template.as_constant() {
        return Ok(Rendered::Now(constant.clone()));
    }
    let can_wait = gives_the_same(turn.run, template, holds_state);
    if can_wait && turn.rendered >= limits::RENDERED_AT_ONCE {
        return Ok(Rendered::Later);
    }
    // What is wrong with it is known when the step begins, where that is cheap to know.
    let rendered = template.render(&RunScope { run: turn.run, at })?;
    turn.spend(rendered.bytes());
    turn.rendered += rendered.bytes();
    Ok(if can_wait && rendered.bytes() > limits::RENDERED_RECORDED {
        Rendered::Later
    } else {
        Rendered::Now(rendered)
    })
}

/// Whether nothing that the template reads changes while the step is under way: the input and the items of a map never
/// do, outputs of steps that are over do not, and in a sequence nothing else is under way that could change `state`.
fn gives_the_same(run: &Run, template: &Template, holds_state: bool) -> bool {
    let is_over = |name: &str| {
        run.definition.index_of(name).is_some_and(|step| match run.step_status(StepAddress::step(step)) {
            StepStatus::Completed | StepStatus::Skipped => true,
            StepStatus::Pending
            | StepStatus::Running
            | StepStatus::Waiting
            | StepStatus::Failed
            | StepStatus::Cancelled => false,
        })
    };
    template.paths().iter().all(|(_, path)| {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        match path.as_slice() {
            ["input" | "run" | "item" | "index" | "secret", ..] => true,
            ["steps", name, "output", ..] => is_over(name),
            ["steps", ..] => false,
            [..] => holds_state && run.definition.order == Order::Sequence,
        }
    })
}

impl Run {
    /// The input of a child that this run asked for.
    pub fn input_of(&self, child: &ChildStart) -> Result<Json, EvaluationError> {
        match &child.input {
            ChildInput::Given(input) => Ok(input.clone()),
            ChildInput::Of(at) if self.past_versions.is_empty() => self.child_input(*at),
            // The place is that of another version.
            ChildInput::Of(_) => match self.place_of_child(child.run_id) {
                Some(at) => self.child_input(at),
                None => Ok(Json::null()),
            },
        }
    }

    /// The input of the child that the step at this address starts.
    fn child_input(&self, at: StepAddress) -> Result<Json, EvaluationError> {
        let Action::Child { input, .. } = &self.defined(at).action else { return Ok(Json::null()) };
        self.render_at(at, input)
    }

    pub(crate) fn render_at(&self, at: StepAddress, template: &Template) -> Result<Json, EvaluationError> {
        template.render(&RunScope { run: self, at })
    }

    pub(crate) fn secrets_at(
        &self,
        at: StepAddress,
        template: &Template,
    ) -> Result<Vec<SecretPlace>, EvaluationError> {
        template.secrets(&RunScope { run: self, at })
    }
}
