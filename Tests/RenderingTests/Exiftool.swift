import Foundation
import MinilabTesting

/// exiftool as the judge of what a file says about itself.
enum Exiftool {
    /// Tags by name, or by `Group:Name` with `-G1` among the options.
    static func tags(of path: String, _ options: String...) throws -> [String: String] {
        let json = try Tool.run("exiftool", ["-j", "-a"] + options + [path])
        let list = try JSONSerialization.jsonObject(with: json) as? [[String: Any]] ?? []
        return (list.first ?? [:]).mapValues { "\($0)" }
    }
}
