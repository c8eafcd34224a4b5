import Edits
import Glibc
import MinilabTesting
import RenderProtocol
import Rendering

// usage: minilab-hostile-child probes    all system calls, and some with arguments, one a line
//        minilab-hostile-child costs     what preparing and entering cost, in microseconds
//        minilab-hostile-child           a render child that does MINILAB_TEST_ATTACK, or tells MINILAB_TEST_LIE
let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "probes" {
    Probes().run()
    exit(0)
}
if arguments.first == "costs" {
    Probes().measure()
    exit(0)
}
if let lie = try TestLie.armed() {
    try Liar(lie).run()
    exit(0)
}
var hooks = RenderChild.Hooks()
// An attack that loops is to end in the seconds that its test waits, on any machine.
hooks.speed = .reference
hooks.willAnswer = { request in
    if case .inspect = request.work { TestAttack.armed?.doInHeader() }
    if case .tryFormat(.webp, _) = request.work, TestAttack.armed == .crashInWebP { abort() }
    if case .tryFormat(_, .some) = request.work, TestAttack.armed == .crashInBitDepth { abort() }
}
hooks.willRender = { request in TestAttack.armed?.doInRender(request) }
exit(RenderChild.run(hooks: hooks).rawValue)
