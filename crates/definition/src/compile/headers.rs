//! Which headers of a call from outside are kept. A list of what is kept, not of what is left out: nobody knows all the
//! headers that hold a secret.

use std::sync::Arc;

use super::Compiler;
use crate::NEVER_KEPT_HEADERS;
use crate::findings::quoted;
use crate::problem::{Code, Problem, pointer};

impl Compiler<'_> {
    /// The names of headers to keep, in lower case.
    pub(super) fn kept_headers(&mut self, field: &str, names: Option<&[String]>) -> Vec<Arc<str>> {
        let at = self.place.field(field);
        let mut kept = Vec::new();
        for (index, given) in names.unwrap_or_default().iter().enumerate() {
            let name = given.to_ascii_lowercase();
            let problem = |message: String| {
                Problem::new(pointer(&at, index.to_string()), Code::ReservedName, message)
                    .expected("the name of a header that does not let anybody in, such as `x-github-event`")
            };
            if NEVER_KEPT_HEADERS.contains(&name.as_str()) {
                self.findings
                    .problem(|| problem(format!("`{name}` is never kept: it holds a key, or a cookie")));
            } else if name.is_empty() || !name.bytes().all(is_of_a_token) {
                self.findings.problem(|| problem(format!("{} is not the name of a header", quoted(given))));
            } else {
                kept.push(Arc::from(name));
            }
        }
        kept
    }
}

/// As RFC 9110 has it.
fn is_of_a_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
