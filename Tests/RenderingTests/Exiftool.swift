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

    /// An item of a container's directory (Google's format of files in one another).
    struct DirectoryItem {
        let semantic: String
        let length: Int?
        let padding: Int?
    }

    /// The items of the container's directory in XMP. Its name is `Directory` up to exiftool 12, and `ContainerDirectory` in 13.
    static func directory(of path: String) throws -> [DirectoryItem] {
        let json = try Tool.run("exiftool", ["-j", "-struct", "-n", "-XMP:all", path])
        let tags = (try JSONSerialization.jsonObject(with: json) as? [[String: Any]])?.first ?? [:]
        let items = (tags["ContainerDirectory"] ?? tags["Directory"]) as? [[String: Any]] ?? []
        return items.map { item in
            let item = item["Item"] as? [String: Any] ?? item
            return DirectoryItem(
                semantic: "\(item["Semantic"] ?? "")",
                length: (item["Length"] as? NSNumber)?.intValue,
                padding: (item["Padding"] as? NSNumber)?.intValue)
        }
    }
}
