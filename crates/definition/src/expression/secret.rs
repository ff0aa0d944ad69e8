//! Secrets in templates. A template never sees the value of one: what is rendered, stored and shown has a placeholder,
//! and says where it stands. Only whoever makes the call puts the value there. The place is known from the template and
//! not from the text, so that a text that looks like a placeholder is never mistaken for one.

use serde::{Deserialize, Serialize};

use super::function::write_text;
use super::template::{Part, Piece, defined};
use super::{EvaluationError, Expression, Scope, Template};
use crate::expression::budget::Budget;
use crate::problem::pointer;

/// The name under which expressions know secrets.
pub const ROOT: &str = "secret";

/// What stands for a secret in what is stored and shown.
pub fn placeholder(name: &str) -> String {
    format!("[secret {name}]")
}

/// Where a secret belongs in a rendered template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretPlace {
    /// Of the string that holds it.
    pub pointer: String,
    /// Where its placeholder begins, in bytes.
    pub at: usize,
    pub name: String,
}

impl Template {
    /// Where the secrets belong in what rendering it for this scope gives.
    pub fn secrets(&self, scope: &dyn Scope) -> Result<Vec<SecretPlace>, EvaluationError> {
        let mut places = Vec::new();
        self.part.collect_secrets("", scope, &mut Budget::new(), &mut places)?;
        Ok(places)
    }

    /// The strings in which a secret is a part of an expression: there would be no place to put it.
    pub fn tangled_secrets(&self) -> Vec<String> {
        let mut tangled = Vec::new();
        self.part.collect_tangled("", &mut tangled);
        tangled
    }
}

impl Expression {
    /// The secret that it is, and nothing else.
    fn secret(&self) -> Option<String> {
        match self.paths().as_slice() {
            [path] if self.is_path() => match path.as_slice() {
                [root, name] if root == ROOT => Some(name.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    fn tangles_a_secret(&self) -> bool {
        self.secret().is_none()
            && self.paths().iter().any(|path| path.first().is_some_and(|root| root == ROOT))
    }
}

impl Part {
    fn collect_secrets(
        &self,
        place: &str,
        scope: &dyn Scope,
        budget: &mut Budget,
        places: &mut Vec<SecretPlace>,
    ) -> Result<(), EvaluationError> {
        match self {
            Part::Constant(_) => Ok(()),
            Part::Value(expression) => {
                let found = expression.secret();
                places.extend(found.map(|name| SecretPlace { pointer: place.to_owned(), at: 0, name }));
                Ok(())
            }
            Part::Text(pieces) => text_secrets(pieces, place, scope, budget, places),
            Part::List(items) => items.iter().enumerate().try_for_each(|(index, item)| {
                item.collect_secrets(&pointer(place, index), scope, budget, places)
            }),
            Part::Object(fields) => fields.iter().try_for_each(|(name, field)| {
                field.collect_secrets(&pointer(place, name), scope, budget, places)
            }),
        }
    }

    fn collect_tangled(&self, place: &str, tangled: &mut Vec<String>) {
        match self {
            Part::Constant(_) => {}
            Part::Value(expression) => {
                tangled.extend(expression.tangles_a_secret().then(|| place.to_owned()));
            }
            Part::Text(pieces) => {
                let any = pieces.iter().any(|piece| match piece {
                    Piece::Text(_) => false,
                    Piece::Value(expression) => expression.tangles_a_secret(),
                });
                tangled.extend(any.then(|| place.to_owned()));
            }
            Part::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    item.collect_tangled(&pointer(place, index), tangled);
                }
            }
            Part::Object(fields) => {
                for (name, field) in fields {
                    field.collect_tangled(&pointer(place, name), tangled);
                }
            }
        }
    }
}

fn text_secrets(
    pieces: &[Piece],
    place: &str,
    scope: &dyn Scope,
    budget: &mut Budget,
    places: &mut Vec<SecretPlace>,
) -> Result<(), EvaluationError> {
    let is_secret = |piece: &Piece| match piece {
        Piece::Text(_) => false,
        Piece::Value(expression) => expression.secret().is_some(),
    };
    if !pieces.iter().any(is_secret) {
        return Ok(());
    }
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(piece) => text.push_str(piece),
            Piece::Value(expression) => {
                if let Some(name) = expression.secret() {
                    places.push(SecretPlace { pointer: place.to_owned(), at: text.len(), name });
                }
                write_text(defined(expression, scope, budget)?.as_ref(), &mut text);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use serde_json::{Value, json};

    use super::*;

    struct Named(Value);

    impl Scope for Named {
        fn resolve<'a>(&'a self, path: &[&str]) -> Option<(Cow<'a, Value>, usize)> {
            match path {
                [ROOT, name, ..] => Some((Cow::Owned(json!(placeholder(name))), 2)),
                path => self.0.resolve(path),
            }
        }
    }

    #[test]
    fn a_place_is_known_by_the_template_and_not_by_what_the_text_looks_like() {
        let scope = Named(json!({"input": "[secret KEY] {{ secret.KEY }}"}));
        let template = Template::parse(&json!({
            "headers": {"authorization": "Bearer {{ secret.KEY }}", "x": "{{ input }}"},
            "body": ["{{ secret.A }}", "ä {{ input }}{{ secret.B }}{{ secret.B }}"],
        }))
        .unwrap();
        let rendered = template.render(&scope).unwrap();
        let places = template.secrets(&scope).unwrap();
        let shown: Vec<(&str, &str)> =
            places.iter().map(|place| (place.pointer.as_str(), place.name.as_str())).collect();
        assert_eq!(
            shown,
            [("/body/0", "A"), ("/body/1", "B"), ("/body/1", "B"), ("/headers/authorization", "KEY")]
        );
        for SecretPlace { pointer, at, name } in places {
            let text = rendered.pointer(&pointer).and_then(Value::as_str).unwrap();
            assert!(text[at..].starts_with(&placeholder(&name)), "{text} at {at}");
        }
    }

    #[test]
    fn a_secret_inside_an_expression_is_found() {
        let tangled = |text: &str| Template::parse(&json!({"a": [text]})).unwrap().tangled_secrets();
        assert_eq!(tangled("x {{ secret.A }}"), [""; 0]);
        assert_eq!(tangled("{{ secret.A | upper }}"), ["/a/0"]);
        assert_eq!(tangled("x {{ secret.A ?? 'none' }}"), ["/a/0"]);
        assert_eq!(tangled("{{ secret }}"), ["/a/0"]);
    }
}
