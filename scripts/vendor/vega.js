// what draws the charts of pages: specifications compiled, expressions interpreted
export { parse, View } from "vega";
export { compile } from "vega-lite";
export { expressionInterpreter } from "vega-interpreter";
