//! A length of time in a body: milliseconds, or text such as `2d 4h` under the same name without `Ms`.

use abide_core::time::Millis;

use crate::problem::Problem;

pub(crate) fn length(name: &str, ms: Option<u64>, text: Option<&str>) -> Result<Option<Millis>, Problem> {
    match (ms, text) {
        (Some(_), Some(_)) => {
            let detail = format!("/{name}: give `{name}Ms` or `{name}`, not both");
            Err(Problem::malformed(format!("/{name}"), detail))
        }
        (Some(ms), None) => Ok(Some(Millis(ms))),
        (None, Some(text)) => Millis::parse(text).map(Some).map_err(|error| {
            let detail =
                format!("/{name}: `{text}` is {error}; it would look like `30s`, `2d 4h` or `PT30M`");
            Problem::malformed(format!("/{name}"), detail)
        }),
        (None, None) => Ok(None),
    }
}
