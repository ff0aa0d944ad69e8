//! What an APPROVAL waitpoint asks people, and how they voted.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Actor, BY_SCOPE};
use crate::json::Json;

/// An approval: what people are asked to decide, and the votes so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApprovalRequest {
    /// The question, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// What is decided about; replaced when somebody edits it.
    pub content: Json,
    /// A JSON Schema that edited content must satisfy. It is checked before a vote comes here.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::json::present")]
    pub content_schema: Option<Json>,
    /// Who may decide; empty: anyone with the right to approve.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvers: Vec<Arc<str>>,
    /// How many must approve.
    pub quorum: u32,
    /// Whether whoever started the run may decide.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub allow_self_approval: bool,
    /// The votes on the present content.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<ApprovalVote>,
}

fn yes() -> bool {
    true
}

fn is_yes(value: &bool) -> bool {
    *value
}

impl ApprovalRequest {
    /// The digest of the content that is shown: a vote can say that it was about this.
    pub fn content_digest(&self) -> String {
        let written = serde_json::to_vec(&self.content).expect("content is JSON");
        let digits = Sha256::digest(&written).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        format!("sha256:{digits}")
    }

    /// Whether this person has voted on the present content.
    pub(crate) fn has_decided(&self, by: &Actor) -> bool {
        self.decisions.iter().any(|vote| vote.by == *by)
    }

    /// How many people may decide; `None` where anyone may, or anyone with a scope.
    pub(crate) fn voters(&self) -> Option<usize> {
        let counted = !self.approvers.is_empty()
            && self.approvers.iter().all(|approver| !approver.starts_with(BY_SCOPE));
        counted.then_some(self.approvers.len())
    }
}

/// One person's vote on the present content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApprovalVote {
    /// Who voted.
    pub by: Actor,
    /// Whether they approve, reject or edit.
    pub decision: Decision,
    /// What they say about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// The link that the vote came by; `None` for a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<ByLink>,
}

/// The link by which somebody voted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ByLink {
    /// Who made the link.
    pub made_by: Actor,
    /// Whether the link is for nobody in particular: whoever has it may be anyone, also who started the run.
    #[serde(default)]
    pub for_anyone: bool,
}

/// A person's decision on an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The person approves the content as it is.
    Approve,
    /// The person rejects the content.
    Reject,
    /// The person replaces the content; that counts as an approval of the new one.
    Edit,
}
