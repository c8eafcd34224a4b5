import CFuzzer
import EntryPoints
import Foundation

/// usage: minilab-fuzz TARGET [OPTION OF libFuzzer]... [FOLDER]...
nonisolated(unsafe) private var target = FuzzTarget.edit

let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
guard CommandLine.arguments.count > 1, let chosen = FuzzTarget(rawValue: CommandLine.arguments[1])
else {
    FileHandle.standardError.write(
        Data("minilab-fuzz: the first argument is one of \(names).\n".utf8))
    exit(64)  // EX_USAGE
}
target = chosen

// libFuzzer keeps the arguments as long as it runs, which is as long as we do.
let arguments = CommandLine.arguments.enumerated().filter { $0.offset != 1 }.map {
    strdup($0.element)
}
var count = Int32(arguments.count)
let list = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(
    capacity: arguments.count + 1)
list.initialize(from: arguments + [nil], count: arguments.count + 1)
var pointer: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = list
exit(
    LLVMFuzzerRunDriver(&count, &pointer) { data, size in
        target.read(Data(UnsafeBufferPointer(start: data, count: size)))
        return 0
    })
