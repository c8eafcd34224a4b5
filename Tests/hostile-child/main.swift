import Adjustments
import Glibc
import MinilabTesting
import RenderProtocol
import Rendering

// A render child that does what MINILAB_TEST_DEED names, and is none of the product.
var hooks = RenderChild.Hooks()
// A deed that loops is to end in the seconds that its test waits, on any machine.
hooks.speed = .reference
hooks.willAnswer = { request in
    if case .probe = request { TestDeed.armed?.doInHeader() }
}
hooks.willRender = { request in TestDeed.armed?.doInRender(request) }
exit(
    RenderChild.run(arguments: Array(CommandLine.arguments.dropFirst()), hooks: hooks).rawValue)
