//! The description of a table: one line per column. Everything else is derived from it: Parquet
//! columns, payloads of the spool, arrays in messages, their JSON Schema, and the tables of
//! `docs/reference/record.md`.

/// Describes a table. Each line is a column: its name, its [cell type](super::cells), where its value
/// is in the row, its unit and its meaning. The place is a path of fields in brackets, or in
/// parentheses a module with functions `get` and `set`.
macro_rules! table {
    ($row:ident = Row::$variant:ident in $name:literal { $($column:ident: $cell:ty = $place:tt, $unit:literal, $meaning:literal;)+ }) => {
        impl Table for $row {
            const NAME: &'static str = $name;
            const COLUMNS: &'static [$crate::columns::Column] = &[$($crate::columns::Column {
                name: stringify!($column),
                values: <$cell as Cell>::VALUES,
                optional: <$cell as Cell>::OPTIONAL,
                wire: <$cell as Cell>::WIRE,
                unit: $unit,
                meaning: $meaning,
            }),+];

            fn write(&self, names: &Names, batch: &mut Batch) {
                let mut to = RowWriter { names, batch, station: u16::MAX };
                $(<$cell as Cell>::write(get!(self, $place), &mut to);)+
            }

            fn from_row(row: Row) -> Option<Self> {
                match row {
                    Row::$variant(row) => Some(row),
                    _ => None,
                }
            }

            fn read(names: &mut Lookup<'_>, cursor: &mut Cursor<'_>) -> Result<Self, &'static str> {
                let mut from = RowReader { names, cursor, station: u16::MAX };
                let mut row = Self::default();
                $(set!(row, $place, <$cell as Cell>::read(&mut from)?);)+
                Ok(row)
            }
        }

        impl $row {
            /// Columns of its table, which are the values of its array in messages.
            #[must_use]
            pub const fn columns() -> &'static [Column] {
                <Self as Table>::COLUMNS
            }
        }

        impl Payload for $row {
            fn encode(&self, to: &mut Vec<u8>) {
                const OPTIONAL: bool = false $(|| <$cell as Cell>::OPTIONAL)+;
                if OPTIONAL {
                    let (mut present, mut bit) = (0_u64, 0_u32);
                    $(if <$cell as Cell>::OPTIONAL {
                        present |= u64::from(<$cell as Cell>::is_present(get!(self, $place))) << bit;
                        bit += 1;
                    })+
                    debug_assert!(bit <= 64, "a bit for each optional column");
                    unsigned(present, to);
                }
                let mut to = Encoder { to, last: 0 };
                $(<$cell as Cell>::encode(get!(self, $place), &mut to);)+
            }

            fn decode(payload: &[u8]) -> Option<Self> {
                const OPTIONAL: bool = false $(|| <$cell as Cell>::OPTIONAL)+;
                let mut from = Decoder { from: Bytes(payload), last: 0, present: 0 };
                if OPTIONAL {
                    from.present = from.from.unsigned()?;
                }
                let mut row = Self::default();
                $(set!(row, $place, <$cell as Cell>::decode(&mut from)?);)+
                (from.present == 0 && from.from.0.is_empty()).then_some(row)
            }
        }

        /// An array of the columns' values. Missing values at the end are left out.
        impl serde::Serialize for $row {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                let (mut length, mut place) = (0, 0);
                $(
                    place += 1;
                    if <$cell as Cell>::is_present(get!(self, $place)) {
                        length = place;
                    }
                )+
                let mut to = to.serialize_seq(Some(length))?;
                let mut left = length;
                $(if left > 0 {
                    serde::ser::SerializeSeq::serialize_element(&mut to, &<$cell as Cell>::to_wire(get!(self, $place)))?;
                    left -= 1;
                })+
                debug_assert_eq!(left, 0, "a value for each column");
                serde::ser::SerializeSeq::end(to)
            }
        }

        /// Missing values at the end are null. Values behind the last column are of newer versions, and
        /// ignored.
        impl<'de> serde::Deserialize<'de> for $row {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl<'de> serde::de::Visitor<'de> for Visitor {
                    type Value = $row;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(concat!("an array of a row of ", $name))
                    }

                    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut from: A) -> Result<$row, A::Error> {
                        let mut row = $row::default();
                        $(
                            let value = <$cell as Cell>::from_wire(from.next_element()?);
                            set!(row, $place, value.map_err(<A::Error as serde::de::Error>::custom)?);
                        )+
                        while from.next_element::<serde::de::IgnoredAny>()?.is_some() {}
                        Ok(row)
                    }
                }
                from.deserialize_seq(Visitor)
            }
        }
    };
}

/// A reference to the value in a row.
macro_rules! get {
    ($row:ident, [$($field:ident).+]) => {
        &$row.$($field).+
    };
    ($row:ident, ($module:ident)) => {
        &$module::get($row)
    };
}

/// Sets the value in a row.
macro_rules! set {
    ($row:ident, [$($field:ident).+], $value:expr) => {
        $row.$($field).+ = $value
    };
    ($row:ident, ($module:ident), $value:expr) => {
        $module::set(&mut $row, $value)
    };
}

pub(crate) use {get, set, table};
