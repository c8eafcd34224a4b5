// swift-tools-version: 6.2
import PackageDescription

// The same Hummingbird as the gateway's, and nothing else: what ops/bench/gateway compares the gateway with.
let package = Package(
    name: "bare",
    dependencies: [
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1", traits: [])
    ],
    targets: [
        .executableTarget(
            name: "bare",
            dependencies: [.product(name: "Hummingbird", package: "hummingbird")],
            swiftSettings: [.treatAllWarnings(as: .error)])
    ],
    swiftLanguageModes: [.v6])
