//! The declaration of a section: one line for each key.

/// Declares a section: a struct with optional keys. The macro generates the section's reader, the conversion to and
/// from the plan, its JSON Schema and its part of the manual. It also lists the keys that can change during a run.
///
/// ```text
/// Section(Plan = DEFAULT_PLAN) changes Setting {
///     /// Description, for the schema and the manual.
///     key(MARK): Type = "TEXT" => FIELD, default NOTE, changes |value| (SETTING), on ENVIRONMENTS else REASON;
/// }
/// ```
///
/// - `MARK`: `required`, or `wifi` for a key that needs modelled Wi-Fi and that a station with a wired link cannot have.
/// - `=> FIELD`: field of the plan that has the value. The default is that of `DEFAULT_PLAN`. The resolution sets a value that
///   depends on other keys.
/// - `= "TEXT"`: default of a key without a field.
/// - `default NOTE`: description of a default that depends on other settings, as an expression.
/// - `changes |value| (SETTING)`: change during a run, as an expression that is also a pattern.
/// - `on ENVIRONMENTS else REASON`: environments in which the key acts, and the reason why it does not act in the others.
macro_rules! section {
    (@setting) => { () };
    (@setting $setting:ty) => { $setting };
    (
        $(#[doc = $about:literal])+
        $name:ident($plan:ty = $default_plan:expr) $(changes $setting:ty)? {
            $(
                $(#[doc = $doc:literal])+
                $key:ident $(($mark:ident))? : $kind:ty $(= $default:literal)? $(=> $($field:ident).+)?
                $(, default $note:expr)?
                $(, changes |$value:ident| ($($new:tt)+))?
                $(, on $environments:ident else $reason:ident)?;
            )*
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, Default)]
        pub(crate) struct $name {
            $( $(#[doc = $doc])+ pub(crate) $key: Option<$crate::decode::Spanned<$kind>>, )*
        }

        impl $crate::decode::Section for $name {
            const NAME: &'static str = stringify!($name);
            const ABOUT: &'static str = concat!($($about),+);
            type Plan = $plan;
            type Setting = $crate::section_macro::section!(@setting $($setting)?);

            fn keys() -> Vec<$crate::decode::Key> {
                vec![$( $crate::decode::Key {
                    name: stringify!($key),
                    about: if $crate::decode::HAS_MANUAL { concat!($($doc),+).trim_ascii_start() } else { "" },
                    default_text: [$($default)?].first().copied(),
                    default_note: if $crate::decode::HAS_MANUAL {
                        [$(std::borrow::Cow::from($note))?].into_iter().next()
                    } else {
                        None
                    },
                    required: [$(stringify!($mark))?].contains(&"required"),
                    wifi: [$(stringify!($mark))?].contains(&"wifi"),
                    changeable: [$(stringify!($value))?].contains(&"value"),
                    limited: [$(($environments, $crate::reason::Reason::$reason))?].first().copied(),
                    shape: <$kind as $crate::decode::FromNode>::shape(),
                    schema: $crate::decode::schema_of::<$kind>(),
                } ),*]
            }

            fn changes() -> Vec<$crate::decode::KeyChange<Self::Setting>> {
                vec![$($( $crate::decode::KeyChange {
                    name: stringify!($key),
                    schema: $crate::decode::schema_of::<$kind>(),
                    read: |node, cx| {
                        let key = <$kind as $crate::decode::FromNode>::read(node, cx)?;
                        let $value = $crate::value::PlanValue::from_key(&key);
                        Some($($new)+)
                    },
                    write: |setting| match setting {
                        $($new)+ => Some($crate::value::PlanValue::<$kind>::to_json($value)),
                        _ => None,
                    },
                }, )?)*]
            }

            fn default_plan() -> Self::Plan {
                $default_plan
            }

            fn apply(&self, plan: &mut Self::Plan) {
                let _ = &plan;
                $($(if let Some(at) = &self.$key {
                    plan.$($field).+ = $crate::value::PlanValue::<$kind>::from_key(&at.value);
                })?)*
            }

            fn encode(plan: &Self::Plan) -> $crate::keys::Keys {
                let _ = plan;
                $crate::keys::Keys::default()
                    $($(.with(stringify!($key), $crate::value::PlanValue::<$kind>::to_json(&plan.$($field).+)))?)*
            }

            fn present(&self) -> Vec<(&'static str, &$crate::node::Place, &str)> {
                let keys = [$(
                    self.$key.as_ref().map(|at| (stringify!($key), &at.place, at.path.as_str()))
                ),*];
                keys.into_iter().flatten().collect()
            }
        }

        impl $crate::decode::FromNode for $name {
            fn read(node: &$crate::node::Node, cx: &mut $crate::decode::Context) -> Option<Self> {
                let table = cx.table(node, "a table of keys")?;
                cx.check_keys(table, &[$(stringify!($key)),*]);
                for key in <$name as $crate::decode::Section>::keys().iter().filter(|key| key.required) {
                    if table.get(key.name).is_none() {
                        cx.missing(node, key.name, key.about);
                    }
                }
                Some($name { $( $key: cx.key(table, stringify!($key)), )* })
            }

            fn schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                generator.subschema_for::<$crate::decode::SectionSchema<$name>>()
            }

            fn shape() -> $crate::path::Shape {
                let keys =
                    || <$name as $crate::decode::Section>::keys().into_iter().map(|key| (key.name, key.shape)).collect();
                $crate::path::Shape::Table(keys, None)
            }
        }
    };
}
pub(crate) use section;
