"""Schedules from other systems and for them.

    ios_file    IOS's published schedules, as graphs of operators with stages
    files       files that are read and written
    parser      the command lines
    model       operators and edges of a model, as the programs list them
    matching    operators of two graphs that correspond to each other
    translate   stages of a file's operators as stages of the model's
    imports     hios import
    onnx_wire   nodes of an ONNX file, read and written without its package
    plan        a schedule's operators as ONNX nodes on devices and streams
    partition   ONNX Runtime's partition file
    devices     ONNX's device configurations
    exports     hios export
"""
