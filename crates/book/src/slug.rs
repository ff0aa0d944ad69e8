//! The anchors of headings, as GitHub makes them, so that one link works in both places.

use std::collections::HashMap;

#[derive(Debug, Default)]
pub(crate) struct Slugs(HashMap<String, usize>);

impl Slugs {
    /// The anchor of the next heading. A text that came before gets a number.
    pub(crate) fn next(&mut self, heading: &str) -> String {
        let kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
        let text: String = heading.trim().chars().filter(kept).collect();
        let slug = text.to_lowercase().replace(' ', "-");
        let times = self.0.entry(slug.clone()).or_default();
        *times += 1;
        if *times == 1 { slug } else { format!("{slug}-{}", *times - 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_have_the_anchors_that_github_gives_them() {
        let mut slugs = Slugs::default();
        assert_eq!(slugs.next("What abide does not do (yet)"), "what-abide-does-not-do-yet");
        assert_eq!(slugs.next("wait_for_event"), "wait_for_event");
        assert_eq!(slugs.next("Codes"), "codes");
        assert_eq!(slugs.next("Codes"), "codes-1");
    }
}
