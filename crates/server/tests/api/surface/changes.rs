//! Changes between two surfaces that a client of the first one would not survive.

use super::lines::{Surface, Way};

/// A sentence for each, in the order of the places.
pub(super) fn breaking(before: &Surface, after: &Surface) -> Vec<String> {
    let mut named = Vec::new();
    for (place, old) in &before.lines {
        let Some(new) = after.lines.get(place) else {
            let goes_with_another = ancestors(place)
                .any(|above| before.lines.contains_key(above) && !after.lines.contains_key(above));
            if !goes_with_another {
                named.push(format!("{place}: is gone"));
            }
            continue;
        };
        if old.kind != new.kind {
            named.push(format!("{place}: was `{}`, is `{}`", old.kind, new.kind));
        }
        if !old.required && new.required && new.ways.contains(&Way::In) {
            named.push(format!("{place}: is required now"));
        }
        if old.required && !new.required && old.ways.contains(&Way::Out) {
            named.push(format!("{place}: was always there, may be absent"));
        }
    }
    for (place, new) in &after.lines {
        let is_asked_for = new.required && new.ways.contains(&Way::In) && !before.lines.contains_key(place);
        if is_asked_for && ancestors(place).next().is_some_and(|above| before.lines.contains_key(above)) {
            named.push(format!("{place}: is new, and required"));
        }
    }
    named.sort();
    named
}

/// The object that has a field or the operation that has a parameter, what has that, and so on.
fn ancestors(place: &str) -> impl Iterator<Item = &str> {
    let above = |place: &str| place.rfind(['.', ' ', '|', '[']);
    std::iter::successors(Some(place), move |inner| above(inner).map(|end| &place[..end])).skip(1)
}
