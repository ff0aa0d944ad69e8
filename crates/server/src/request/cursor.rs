//! Cursors: where a list goes on. Opaque to the caller, and checked when they come back.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::problem::{Code, Problem};

/// The last item of a page, for the list of this name.
pub(crate) fn write(list: &str, after: &impl Serialize) -> String {
    let cursor = serde_json::to_vec(&(list, after)).expect("a cursor is JSON");
    URL_SAFE_NO_PAD.encode(cursor)
}

pub(crate) fn read<C: DeserializeOwned>(list: &str, cursor: Option<&str>) -> Result<Option<C>, Problem> {
    let Some(cursor) = cursor else { return Ok(None) };
    let after = URL_SAFE_NO_PAD
        .decode(cursor)
        .ok()
        .and_then(|bytes| serde_json::from_slice::<(String, C)>(&bytes).ok())
        .filter(|(of, _)| of == list)
        .map(|(_, after)| after);
    let bad = || Problem::new(Code::BadCursor, "the cursor is not one that this list gave").at("/cursor");
    after.map(Some).ok_or_else(bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_leads_on_in_its_own_list_only() {
        let cursor = write("runs", &7_u32);
        assert_eq!(read::<u32>("runs", Some(&cursor)).unwrap(), Some(7));
        for (list, cursor) in [("waitpoints", cursor.as_str()), ("runs", "soon"), ("runs", "")] {
            assert_eq!(read::<u32>(list, Some(cursor)).unwrap_err().code, Code::BadCursor);
        }
    }
}
