import Edits
import Filters
import Testing

@Suite("A filter as text") struct FilterTextTests {
    @Test(arguments: [
        ("css:sepia(0.8)", "amount", 0.8), ("css:sepia(80%)", "amount", 0.8),
        ("css:sepia( .8 )", "amount", 0.8), ("css:sepia()", "amount", 1),
        ("css:brightness(+1.5)", "amount", 1.5), ("css:sepia:amount=0.8", "amount", 0.8),
        ("css:hue-rotate(90deg)", "angle", 90), ("css:hue-rotate(-0.25turn)", "angle", -90),
        ("css:hue-rotate(100grad)", "angle", 90), ("css:hue-rotate(0)", "angle", 0),
        ("css:hue-rotate(3.141592653589793rad)", "angle", 180), ("css:hue-rotate", "angle", 0),
    ])
    func `CSS functions are read as CSS writes them`(
        _ text: String, _ name: String, _ number: Double
    )
        throws
    {
        let filter = try Filter(text: text, at: "filter")
        #expect(abs(filter.number(name) - number) < 1e-9)
    }

    @Test func `an edit may hold CSS functions, and stores objects`() throws {
        let recipe = try Recipe(json: #"{"filters": ["css:sepia(80%)", {"name": "css:invert"}]}"#)
        #expect(
            recipe.json.canonical
                == #"{"filters":[{"amount":0.8,"name":"css:sepia"},{"amount":1,"name":"css:invert"}],"#
                + #""output":{"quality":0.9}}"#)
    }

    @Test(arguments: [
        ("css:sepia(-0.1)", FailureCode.parameterOutOfRange, "0.0 to 1000.0"),
        ("css:sepia(80 %)", .invalidValue, "a number"),
        ("css:sepia(0.8", .invalidValue, "css:sepia(0.8"),
        ("css:sepia(0x1)", .invalidValue, "0x1"), ("css:sepia(nan)", .invalidValue, "nan"),
        ("css:sepia(1.)", .invalidValue, "1."), ("css:sepia(1e400)", .invalidValue, "1e400"),
        ("css:hue-rotate(90)", .invalidValue, "deg"),
        ("css:hue-rotate(90%)", .invalidValue, "turn"),
        ("css:sparkle(1)", .unknownFilter, "css:sparkle"),
        ("CISepiaTone(1)", .unknownFilter, "CISepiaTone(1)"),
    ])
    func `text that is no CSS function is refused`(
        _ text: String, _ code: FailureCode, _ part: String
    ) {
        expect(code, naming: part) { try Filter(text: text, at: "filter") }
    }

    @Test(arguments: [
        ("CIExposureAdjust", "inputEV", "ev"), ("CIColorMatrix", "inputRVector", "RVector"),
        ("CIColorMatrix", "inputBiasVector", "biasVector"),
        ("CIToneCurve", "inputPoint0", "point0"),
        ("CIFalseColor", "inputColor1", "color1"), ("CIColorCube", "inputCubeData", "cubeData"),
        ("CITemperatureAndTint", "inputTargetNeutral", "targetNeutral"),
        ("css:sepia", "amount", "amount"),
    ])
    func `short names are those of Core Image's Swift interface`(
        _ filter: String, _ name: String, _ short: String
    ) throws {
        let definition = try #require(FilterCatalogue.definition(named: filter))
        let parameter = try #require(definition.parameters.first { $0.name == name })
        #expect(parameter.shortName == short)
    }
}
