//! A definition, and what was found in one.

use abide_core::id::DefinitionId;
use abide_core::problem::Problem as Finding;
use abide_engine::stored::{DefinitionSummary, StoredDefinition};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::problem::{Code, FindingBody, Problem};

/// A definition in a list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "DefinitionSummary")]
pub(crate) struct SummaryBody {
    #[schemars(with = "String")]
    id: DefinitionId,
    name: String,
    version: String,
    created_at: Timestamp,
}

impl From<DefinitionSummary> for SummaryBody {
    fn from(summary: DefinitionSummary) -> SummaryBody {
        let DefinitionSummary { id, name, version, created_at } = summary;
        SummaryBody { id, name, version, created_at }
    }
}

/// A version of a workflow. It never changes.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Definition")]
pub(crate) struct DefinitionBody {
    #[schemars(with = "String")]
    id: DefinitionId,
    name: String,
    version: String,
    created_at: Timestamp,
    /// The workflow as it was posted.
    document: Value,
}

impl TryFrom<StoredDefinition> for DefinitionBody {
    type Error = Problem;

    fn try_from(stored: StoredDefinition) -> Result<DefinitionBody, Problem> {
        let StoredDefinition { id, workspace: _, name, version, document, created_at } = stored;
        let document = serde_json::from_str(&document)
            .map_err(|_| Problem::new(Code::Internal, format!("the document of {id} cannot be read")))?;
        Ok(DefinitionBody { id, name, version, created_at, document })
    }
}

/// A definition that is stored.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "DeployedDefinition")]
pub(crate) struct DeployedBody {
    #[schemars(with = "String")]
    pub(crate) id: DefinitionId,
    pub(crate) name: String,
    pub(crate) version: String,
    /// False when the very same was there already.
    pub(crate) created: bool,
    /// What is doubtful about it.
    #[schemars(with = "Vec<FindingBody>")]
    pub(crate) warnings: Vec<Finding>,
}

/// What a check found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CheckedDefinition")]
pub(crate) struct CheckedBody {
    pub(crate) valid: bool,
    #[schemars(with = "Vec<FindingBody>")]
    pub(crate) problems: Vec<Finding>,
    #[schemars(with = "Vec<FindingBody>")]
    pub(crate) warnings: Vec<Finding>,
}
