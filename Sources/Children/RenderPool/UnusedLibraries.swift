import Files
import Glibc
import SystemPackage

/// The empty stand-ins for libraries that no photo may reach, which `ops/release` makes beside the program of children.
///
/// libvips and libavcodec are linked to many libraries that Minilab never calls. A child that finds their stand-ins first starts in two
/// thirds of the time and holds 12 MB less at its start (CHILDREN.md, "A start").
enum UnusedLibraries {
    /// The folder beside the program.
    static let folderName = "minilab-render.unused"
    /// The file in it that names the libraries for which the stand-ins are made: path, bytes and time of the last write, in lines.
    static let listName = "for"
    /// The most bytes of that file: a hundred paths.
    private static let listBytesMax = 16 << 10

    /// Returns the folder beside a program, if it is made for the libraries of this machine.
    ///
    /// After an update, one of these may refer to symbols that a stand-in does not have, and no child would start.
    static func folder(beside executable: FilePath) -> FilePath? {
        let folder = executable.removingLastComponent().appending(folderName)
        let list: [UInt8]
        do {
            list = try OpenFile(reading: folder.appending(listName).string)
                .bytes(from: 0, count: listBytesMax)
        } catch {
            return nil  // none are installed, as for programs that `swift build` has made
        }
        let lines = String(decoding: list, as: UTF8.self).split(separator: "\n")
        return !lines.isEmpty && list.count < listBytesMax && lines.allSatisfy(isTrue)
            ? folder : nil
    }

    /// Returns whether a library is as a line of the list says.
    private static func isTrue(_ line: Substring) -> Bool {
        let fields = line.split(separator: " ").map(String.init)
        var status = stat()
        return fields.count == 3 && stat(fields[0], &status) == 0
            && fields[1...] == ["\(status.st_size)", "\(status.st_mtim.tv_sec)"]
    }
}
