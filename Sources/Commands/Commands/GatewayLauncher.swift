import ArgumentParser
import Edits
import Files
import Glibc
import SystemPackage

/// `minilab gateway`: replaces this process with `minilab-gateway`, a separate executable, so that workers link no web
/// server.
struct GatewayLauncher: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway",
        abstract: "Serves queue and library over HTTP, with a dashboard.",
        discussion: """
            Starts minilab-gateway, which lies beside minilab, with these arguments: minilab gateway --help-all.

            Example:
              minilab gateway --redis redis://127.0.0.1:6379 --library /srv/photos
            """)

    @Argument(parsing: .captureForPassthrough, help: "The flags of minilab-gateway.")
    var arguments: [String] = []

    func run() throws {
        // Without /proc, the program is searched for in PATH.
        let link = try? FileSystem.target(ofLink: "/proc/self/exe")
        let program = link.map {
            FilePath($0).removingLastComponent().appending("minilab-gateway").string
        }
        let commandLine = [program ?? "minilab-gateway"] + arguments
        var pointers: [UnsafeMutablePointer<CChar>?] = commandLine.map { strdup($0) } + [nil]
        execvp(commandLine[0], &pointers)
        throw Failure(
            .ioFailure,
            "\(commandLine[0]) cannot be started: \(Errno(rawValue: errno)). It is installed beside minilab; "
                + "ops/release minilab-gateway builds it.")
    }
}
