//! `Upstash-Signature`: a JWT over the body of a delivery, signed with HMAC-SHA256 by the bytes of the signing key.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use serde_json::json;
use sha2::{Digest, Sha256};

/// How long a receiver may take a signature for fresh.
const VALID_S: i64 = 300;

/// The signature of a body that is sent to a URL now. Every attempt is signed anew: one may come hours after another.
pub(crate) fn sign(key: &str, url: &str, id: &str, body: &[u8], now: Timestamp) -> String {
    let seconds = now.as_second();
    let claims = json!({
        "iss": "Upstash",
        "sub": url,
        "exp": seconds + VALID_S,
        "nbf": seconds,
        "iat": seconds,
        "jti": format!("jwt_{id}"),
        "body": URL_SAFE_NO_PAD.encode(Sha256::digest(body)),
    });
    let header = URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256","typ":"JWT"}"#);
    let signed = format!("{header}.{}", URL_SAFE_NO_PAD.encode(claims.to_string()));
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).expect("HMAC takes keys of any length");
    mac.update(signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
}
