//! Expressions and templates: they parse, and what they name by name exists.

use serde_json::Value;

use super::Compiler;
use crate::expression::{Expression, SECRET, Template};
use crate::findings::quoted;
use crate::problem::{Code, Problem};

/// What begins a template's expression.
pub(super) const OPENING: &str = "{{";

/// What an expression may name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sees {
    /// The run.
    Run,
    /// The run, and an event that a wait may take.
    RunAndEvent,
    /// An event, and nothing else: there is no run yet.
    Event,
    /// The input of a start, and nothing else: there is no run yet.
    Input,
    /// An event and the input of a run that is created: it has nothing else yet.
    EventAndInput,
}

impl Compiler<'_> {
    pub(super) fn expression(&mut self, field: &str, source: &str) -> Option<Expression> {
        self.expression_seeing(field, source, Sees::Run)
    }

    /// An expression over an event's data as well.
    pub(super) fn event_expression(&mut self, field: &str, source: &str) -> Option<Expression> {
        self.expression_seeing(field, source, Sees::RunAndEvent)
    }

    pub(super) fn expression_seeing(&mut self, field: &str, source: &str, sees: Sees) -> Option<Expression> {
        let at = self.place.field(field);
        match Expression::parse(source) {
            Ok(expression) => {
                for path in expression.paths() {
                    self.reference(&at, &path, Code::BadExpression, sees);
                }
                Some(expression)
            }
            Err(error) => {
                self.findings.problem(|| {
                    Problem::new(at, Code::BadExpression, format!("this expression cannot be read: {error}"))
                        .expected("an expression such as `state.leadScore >= 80`")
                });
                None
            }
        }
    }

    pub(super) fn text_template(&mut self, field: &str, text: &str) -> Option<Template> {
        self.template(field, &Value::from(text))
    }

    pub(super) fn template(&mut self, field: &str, value: &Value) -> Option<Template> {
        self.template_seeing(field, value, Sees::Run)
    }

    pub(super) fn template_seeing(&mut self, field: &str, value: &Value, sees: Sees) -> Option<Template> {
        let at = self.place.field(field);
        match Template::parse(value) {
            Ok(template) => {
                for (inside, path) in template.paths() {
                    self.reference(&format!("{at}{inside}"), &path, Code::BadTemplate, sees);
                }
                for inside in template.tangled_secrets().iter().filter(|_| self.place.sees_secrets) {
                    self.findings.problem(|| {
                        let message = "a secret stands for itself; it cannot be a part of an expression";
                        Problem::new(format!("{at}{inside}"), Code::BadTemplate, message)
                            .expected("text such as `Bearer {{ secret.API_KEY }}`")
                    });
                }
                Some(template)
            }
            Err(problems) => {
                for problem in problems {
                    self.findings.problem(|| {
                        let message = format!("this template cannot be read: {}", problem.message);
                        Problem::new(format!("{at}{}", problem.pointer), Code::BadTemplate, message)
                            .expected("text such as `Dear {{ state.leadName }}`")
                    });
                }
                None
            }
        }
    }

    /// Text that is taken as it stands, so that a template in it would never be filled in.
    pub(super) fn plain(&mut self, field: &str, text: &str) {
        self.plain_at(&self.place.field(field), text);
    }

    pub(super) fn plain_at(&mut self, at: &str, text: &str) {
        if text.contains(OPENING) {
            self.findings.problem(|| {
                Problem::new(
                    at,
                    Code::BadTemplate,
                    "there are no templates here: this text is taken as it stands",
                )
                .expected(format!("text without `{OPENING}`"))
            });
        }
    }

    fn reference(&mut self, at: &str, path: &[String], code: Code, sees: Sees) {
        let of_event = "`event`, the event's data, such as `event.id`";
        let (known, why, expected): (&[&str], _, _) = match sees {
            Sees::Run | Sees::RunAndEvent => (&[], "", ""),
            Sees::Event => (&["event"], "there is no run yet", of_event),
            Sees::Input => (&["input"], "there is no run yet", "`input`, such as `input.account`"),
            Sees::EventAndInput => {
                (&["event", "input", "run"], "it is bound when the run is created", of_event)
            }
        };
        if !known.is_empty() {
            if let Some(root) = path.first().filter(|root| !known.contains(&root.as_str())) {
                self.findings.problem(|| {
                    let message = format!("{} is not known here: {why}", quoted(root));
                    Problem::new(at, code, message).expected(expected)
                });
            }
            return;
        }
        let mut path = path.iter().map(String::as_str);
        match path.next() {
            Some("steps") if !self.links.are_doubtful() => {
                if let Some(name) = path.next().filter(|name| self.names.index(name).is_none()) {
                    self.findings.problem(|| self.names.unknown(at, name));
                }
            }
            Some(root @ ("item" | "index")) if !self.place.in_map => {
                self.findings.problem(|| unknown_here(at, root, code, "in the step of a `map`"));
            }
            Some(root @ "event") if sees == Sees::Run => {
                self.findings
                    .problem(|| unknown_here(at, root, code, "in the `match` of a `wait_for_event`"));
            }
            Some(root @ SECRET) if !self.place.sees_secrets => {
                let place = "in the `url`, the `headers` and the `body` of an `http` step";
                self.findings.problem(|| unknown_here(at, root, code, place));
            }
            Some(_) | None => {}
        }
    }
}

fn unknown_here(at: &str, root: &str, code: Code, place: &str) -> Problem {
    Problem::new(at, code, format!("{} is known only {place}", quoted(root)))
}
