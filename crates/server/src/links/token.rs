//! The token of a link: `secret.claims.signature`. What it claims is signed as a whole with the target, and only the
//! spelling that this server writes is read: a token has no second form that would be another person's.

use abide_core::id::{RunId, WaitpointId};
use abide_core::limits;
use abide_core::waitpoint::{Actor, ByLink};
use abide_engine::LinkGeneration;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::Mac;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Secret;

/// Longer than any that is made: a recipient and a maker of the longest names.
const TOKEN_BYTES: usize = 4_096;

/// What a link leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target<'t> {
    Waitpoint(WaitpointId),
    /// The wait of a step, begun or not.
    Step(RunId, &'t str),
}

/// What a link says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Claims", from = "Claims")]
pub(crate) struct Link {
    pub(crate) valid_in: LinkGeneration,
    /// Who made it.
    pub(crate) made_by: Actor,
    /// Whom it was made for, if for one person.
    pub(crate) recipient: Option<String>,
    /// In seconds since 1970; with its waitpoint if absent.
    pub(crate) expires_at_s: Option<i64>,
}

/// As short as it gets: it stands in URLs.
#[derive(Serialize, Deserialize)]
struct Claims(u32, u32, Actor, Option<String>, Option<i64>);

impl From<Claims> for Link {
    fn from(Claims(of_waitpoint, of_workspace, made_by, recipient, expires_at_s): Claims) -> Link {
        Link { valid_in: LinkGeneration { of_waitpoint, of_workspace }, made_by, recipient, expires_at_s }
    }
}

impl From<Link> for Claims {
    fn from(link: Link) -> Claims {
        let Link {
            valid_in: LinkGeneration { of_waitpoint, of_workspace },
            made_by,
            recipient,
            expires_at_s,
        } = link;
        Claims(of_waitpoint, of_workspace, made_by, recipient, expires_at_s)
    }
}

impl Link {
    pub(crate) fn expires_at(&self) -> Option<Timestamp> {
        self.expires_at_s.map(|seconds| Timestamp::from_second(seconds).unwrap_or(Timestamp::MIN))
    }

    /// What is said of a vote that came by it.
    pub(crate) fn voted_by(&self) -> ByLink {
        ByLink { made_by: self.made_by.clone(), for_anyone: self.recipient.is_none() }
    }
}

pub(super) fn write(secret: &Secret, target: Target<'_>, link: &Link) -> String {
    let claims = serde_json::to_vec(link).expect("numbers and names are JSON");
    let signature = signature(secret, target, &claims).finalize().into_bytes();
    format!("{}.{}.{}", secret.id, URL_SAFE_NO_PAD.encode(claims), URL_SAFE_NO_PAD.encode(signature))
}

/// The link, if this is the token of it.
pub(super) fn read(secret: &Secret, target: Target<'_>, token: &str) -> Option<Link> {
    if token.len() > TOKEN_BYTES {
        return None;
    }
    let mut parts = token.split('.').skip(1);
    let claims = URL_SAFE_NO_PAD.decode(parts.next()?).ok()?;
    let signed = URL_SAFE_NO_PAD.decode(parts.next()?).ok()?;
    // Compares in constant time.
    signature(secret, target, &claims).verify_slice(&signed).ok()?;
    let link: Link = serde_json::from_slice(&claims).ok()?;
    let is_a_name = |name: &String| (1..=limits::NAME_CHARS).contains(&name.chars().count());
    let is_ours = write(secret, target, &link) == token;
    (is_ours && link.recipient.as_ref().is_none_or(is_a_name)).then_some(link)
}

fn signature(secret: &Secret, target: Target<'_>, claims: &[u8]) -> impl Mac {
    match target {
        Target::Waitpoint(id) => secret.mac("resume waitpoint", &[id.to_string().as_bytes(), claims]),
        Target::Step(run, step) => {
            secret.mac("resume step", &[run.to_string().as_bytes(), step.as_bytes(), claims])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::secret::numbered;
    use super::*;

    fn link(recipient: Option<&str>) -> Link {
        Link {
            valid_in: LinkGeneration::default(),
            made_by: Actor::new("admin"),
            recipient: recipient.map(str::to_owned),
            expires_at_s: None,
        }
    }

    #[test]
    fn a_link_leads_to_its_own_waitpoint_only() {
        let (mine, other) = (RunId(1).waitpoint(1), RunId(1).waitpoint(2));
        let token = write(&numbered(1), Target::Waitpoint(mine), &link(None));
        assert_eq!(read(&numbered(1), Target::Waitpoint(mine), &token), Some(link(None)));
        assert_eq!(read(&numbered(1), Target::Waitpoint(other), &token), None);
        assert_eq!(read(&numbered(1), Target::Step(RunId(1), "step"), &token), None);
        assert_eq!(read(&numbered(2), Target::Waitpoint(mine), &token), None);
    }

    #[test]
    fn a_token_has_one_spelling() {
        let target = Target::Waitpoint(RunId(1).waitpoint(1));
        for made in [link(None), link(Some("ann"))] {
            let token = write(&numbered(1), target, &made);
            let (id, rest) = token.split_once('.').unwrap();
            let (claims, signature) = rest.split_once('.').unwrap();
            for other in [
                format!("{token}."),
                format!("{token}.x"),
                format!(".{token}"),
                format!("+{token}"),
                format!("0{token}"),
                format!("{id}..{claims}.{signature}"),
                format!("{id}.{claims}=.{signature}"),
                format!("{id}.{claims}.{signature}="),
                format!("{id}.{claims}"),
                format!(" {token}"),
                format!("{token} "),
                token.to_uppercase(),
                String::new(),
            ] {
                assert_eq!(read(&numbered(1), target, &other), None, "{other}");
            }
        }
    }

    /// Whatever is signed is signed by us; what another version of us may have signed is still looked at.
    #[test]
    fn nobody_is_not_the_one_without_a_name() {
        let target = Target::Waitpoint(RunId(1).waitpoint(1));
        let (anyone, nameless) = (link(None), link(Some("")));
        assert_ne!(write(&numbered(1), target, &anyone), write(&numbered(1), target, &nameless));
        let token = write(&numbered(1), target, &nameless);
        assert_eq!(read(&numbered(1), target, &token), None);
        let spaced = URL_SAFE_NO_PAD.encode(br#"[0, 0, "admin", null, null]"#);
        let signed =
            signature(&numbered(1), target, br#"[0, 0, "admin", null, null]"#).finalize().into_bytes();
        let token = format!("1.{spaced}.{}", URL_SAFE_NO_PAD.encode(signed));
        assert_eq!(read(&numbered(1), target, &token), None);
    }

    #[test]
    fn what_a_link_says_of_itself_cannot_be_changed() {
        let target = Target::Waitpoint(RunId(1).waitpoint(1));
        let token = write(&numbered(1), target, &link(Some("ann")));
        let signed = token.rsplit_once('.').unwrap().1;
        for other in [link(Some("bob")), link(None), Link { expires_at_s: Some(9), ..link(Some("ann")) }] {
            let claims = URL_SAFE_NO_PAD.encode(serde_json::to_vec(&other).unwrap());
            assert_eq!(read(&numbered(1), target, &format!("1.{claims}.{signed}")), None, "{other:?}");
        }
    }
}
