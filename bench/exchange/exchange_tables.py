"""The page of bench/exchange.sh."""

HEAD = ["network", "plan", "nodes", "nodes on each device", "streams", "checker", "same bits"]
PUBLISHED_HEAD = ["schedule", "merged sets", "stages", "stages estimated", "predicted ms", "measured ms", "of rounds",
                  "faster than sequential"]


def row(result):
    if "error" in result:
        return [result["network"], result["plan"], *[""] * 3, result["error"], "no"]
    return [result["network"], result["plan"], str(result["nodes"]), ", ".join(map(str, result["nodes_of_devices"])),
            str(result["streams"]), "passed", "yes" if result["same_bits"] else "no"]


def table(results):
    lines = [HEAD, ["---"] * len(HEAD), *map(row, results["read_back"])]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def page(results):
    text = ("# Exported and imported schedules\n\n"
            f"Made by `bench/exchange.sh`, with onnx {results.get('onnx')} and ONNX Runtime {results.get('onnxruntime')}. A "
            "session with the partition file and one that reads the\nfile with devices give the bits of a session without; the "
            "partition file without its last node is refused, so it is read.\n\n" + table(results) + "\n")
    if results["published"]:
        text += (f"\nSchedules that IOS published and ours, on one rank of {results['cores']} cores with {results['cores']} "
                 f"streams ({results['cpu']}): predicted by one\nprofile, and measured in turns; the median of the rounds, each "
                 "of which has the best quarter of its runs. Every schedule\nwas verified.\n\n" + published_table(results["published"]) + "\n")
    return text


def published_table(rows):
    base = rows[0]["measured_ms"]
    lines = [PUBLISHED_HEAD, ["---"] * len(PUBLISHED_HEAD)]
    for each in rows:
        lines.append([each["schedule"], str(each["merged"]), str(each["stages"]), str(each["estimated_stages"]),
                      f"{each['predicted_ms']:.2f}", f"{each['measured_ms']:.2f}",
                      f"{min(each['rounds_ms']):.2f} to {max(each['rounds_ms']):.2f}",
                      f"{base / each['measured_ms']:.3f}x"])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
