/// All series of one metric at one moment, ready to be written.
public struct MetricFamily: Sendable, Equatable {
    /// The meaning of a metric's numbers.
    public enum Kind: String, Sendable {
        /// A number that only increases, and restarts from 0 with the process.
        case counter
        /// A number that increases and decreases.
        case gauge
        /// The number of values at or below each bound.
        case histogram
    }

    /// One line of a metric.
    public struct Sample: Sendable, Equatable {
        /// The suffix of the metric's name: empty, or a histogram's `_bucket`, `_sum`, `_count`.
        public let suffix: String
        /// The labels, in the order in which they are written.
        public let labels: [Label]
        /// The number.
        public let value: Double

        /// Creates a sample.
        public init(suffix: String = "", labels: [Label] = [], value: Double) {
            self.suffix = suffix
            self.labels = labels
            self.value = value
        }
    }

    /// A name and a value that distinguish one series from the others.
    public struct Label: Sendable, Equatable {
        /// The name: letters, digits and `_`.
        public let name: String
        /// The value: any text.
        public let value: String

        /// Creates a label.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The name: letters, digits and `_`. It ends with its unit, and with `_total` for a counter.
    public let name: String
    /// The description for people, one sentence.
    public let help: String
    /// The meaning of its numbers.
    public let kind: Kind
    /// The samples.
    public let samples: [Sample]

    /// Creates a metric.
    public init(name: String, help: String, kind: Kind, samples: [Sample]) {
        self.name = name
        self.help = help
        self.kind = kind
        self.samples = samples
    }

    /// Returns a gauge with a single, current value.
    public static func gauge(
        _ name: String, _ help: String, labels: [Label] = [], _ value: Double
    ) -> MetricFamily {
        MetricFamily(
            name: name, help: help, kind: .gauge, samples: [Sample(labels: labels, value: value)])
    }
}
