public import Edits

/// The name of a queue: the hash tag that all its Redis keys share.
public struct QueueName: Sendable, Hashable, CustomStringConvertible {
    /// The text: 1 to 64 letters, digits, `.`, `_`, `-`.
    public let string: String

    /// The default queue.
    public static let photos = QueueName(checked: "photos")

    private init(checked string: String) { self.string = string }

    /// Checks a name; the rules are those of a job id.
    public init(_ string: String) throws(Failure) {
        do {
            self.string = try JobID(string).string
        } catch {
            throw Failure(
                .invalidValue,
                "queue name \(string.debugDescription) is not allowed: 1 to "
                    + "\(ContractLimits.jobIDLengthMax) letters, digits, '.', '_' or '-', "
                    + "starting with a letter or digit.")
        }
    }

    /// Its keys in Redis.
    public var keys: QueueKeys { QueueKeys(self) }
    /// The keys of its gateways in Redis.
    package var gatewayKeys: GatewayKeys { GatewayKeys(self) }

    /// The suffix of the entry names of the urgent ingress stream; see `Scripts/Shared/streams.lua`.
    static let urgentSuffix = "-i"
    public var description: String { string }
}
