/// All series of one metric at one moment: a value, ready to be written out.
public struct MetricFamily: Sendable, Equatable {
    /// What the numbers mean to who reads them.
    public enum Kind: String, Sendable {
        /// Only rises, and starts again from 0 with the process.
        case counter
        /// Rises and falls.
        case gauge
        /// How many values lie at or below each bound.
        case histogram
    }

    /// One line of a metric.
    public struct Sample: Sendable, Equatable {
        /// What follows the metric's name: nothing, or a histogram's `_bucket`, `_sum`, `_count`.
        public let suffix: String
        /// Names and values, in the order in which they are written.
        public let labels: [Label]
        /// The number.
        public let value: Double

        /// A line.
        public init(suffix: String = "", labels: [Label] = [], value: Double) {
            self.suffix = suffix
            self.labels = labels
            self.value = value
        }
    }

    /// A name and a value that tell one series from the others.
    public struct Label: Sendable, Equatable {
        /// Letters, digits and `_`.
        public let name: String
        /// Any text.
        public let value: String

        /// A label.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Letters, digits and `_`; ends in its unit, and in `_total` if it is a counter.
    public let name: String
    /// One sentence for people.
    public let help: String
    /// What its numbers mean.
    public let kind: Kind
    /// Its lines.
    public let samples: [Sample]

    /// A metric.
    public init(name: String, help: String, kind: Kind, samples: [Sample]) {
        self.name = name
        self.help = help
        self.kind = kind
        self.samples = samples
    }

    /// A gauge that was read just now.
    public static func gauge(
        _ name: String, _ help: String, labels: [Label] = [], _ value: Double
    ) -> MetricFamily {
        MetricFamily(
            name: name, help: help, kind: .gauge, samples: [Sample(labels: labels, value: value)])
    }
}
