//! The key `dscp`: a number or a name.

use crate::decode::{Context, FromNode};
use crate::node::{Node, Value};
use crate::suggest::list;
use crate::value::PlanValue;
use netburn_units::Dscp;
use schemars::{Schema, SchemaGenerator, json_schema};

const EXPECTED: &str = "a DSCP, 0 to 63, or a name such as `\"EF\"`";

impl FromNode for Dscp {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        let known = || Dscp::NAMES.iter().map(|(name, _)| *name);
        match (&node.value, node.text()) {
            (Value::Integer(number), _) => {
                let dscp = u8::try_from(*number).ok().and_then(Dscp::new);
                if dscp.is_none() {
                    cx.problem(
                        &node.place,
                        format!("`{number}` is out of range"),
                        format!("expected {EXPECTED}"),
                    );
                }
                dscp
            }
            (_, Some(text)) => {
                let named = Dscp::NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
                if named.is_none() {
                    let help = match cx.nearest(text, known()) {
                        Some(near) => format!("did you mean `{near}`? Expected 0 to 63, or one of {}", list(known())),
                        None => format!("expected 0 to 63, or one of {}", list(known())),
                    };
                    cx.problem(&node.place, format!("unknown DSCP {}", node.found()), help);
                }
                named.map(|(_, dscp)| *dscp)
            }
            _ => cx.mismatch(node, EXPECTED),
        }
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = Dscp::NAMES.iter().map(|(name, _)| *name).collect();
        json_schema!({
            "anyOf": [
                { "type": "integer", "minimum": 0, "maximum": Dscp::MAX },
                { "type": "string", "enum": names },
            ],
            "x-value": "0 to 63, or a name",
        })
    }
}

impl PlanValue<Dscp> for Dscp {
    fn from_key(key: &Dscp) -> Self {
        *key
    }

    fn to_json(&self) -> serde_json::Value {
        self.value().into()
    }
}
