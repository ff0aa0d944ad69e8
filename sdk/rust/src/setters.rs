//! What types of the API have besides their fields: methods of requests, one for each thing that a request may have; how
//! enums are spelled.

/// `into`, `plain` and `list` say what a method takes; `length` is a length of time, which has two fields.
macro_rules! setters {
    ($name:ident { $($field:ident [$($how:tt)*]),* }) => {
        impl $name {
            $($crate::setters::setter!($name $field $($how)*);)*
        }
    };
}

macro_rules! setter {
    ($name:ident $field:ident into $kind:ty) => {
        #[doc = concat!("With `", stringify!($field), "`.")]
        pub fn $field(mut self, value: impl Into<$kind>) -> $name {
            self.$field = Some(value.into());
            self
        }
    };
    ($name:ident $field:ident plain $kind:ty) => {
        #[doc = concat!("With `", stringify!($field), "`.")]
        pub fn $field(mut self, value: $kind) -> $name {
            self.$field = Some(value);
            self
        }
    };
    ($name:ident $field:ident list $kind:ty) => {
        #[doc = concat!("With `", stringify!($field), "`.")]
        pub fn $field(mut self, values: impl IntoIterator<Item = impl Into<$kind>>) -> $name {
            self.$field = Some(values.into_iter().map(Into::into).collect());
            self
        }
    };
    ($name:ident $field:ident length $ms:ident) => {
        #[doc = concat!("With `", stringify!($field), "`.")]
        pub fn $field(mut self, value: impl Into<$crate::Length>) -> $name {
            (self.$ms, self.$field) = value.into().parts();
            self
        }
    };
}

/// How the variants of an enum are spelled in the API.
macro_rules! words {
    ($name:ident { $($variant:ident $word:literal),* }) => {
        impl $name {
            /// The word as the API spells it.
            pub fn as_str(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)*
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

/// A field that is given, if only as null. One that is not there is not read.
pub(crate) fn given<'de, D, T>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: serde::Deserialize<'de>,
{
    serde::Deserialize::deserialize(deserializer).map(Some)
}

pub(crate) use {setter, setters, words};
