/** The styles of a picture that is taken away, as text, in the order in which the page has them. */

import allocator from "../../css/stage/allocator.css";
import graphPane from "../../css/stage/graph_pane.css";
import handles from "../../css/stage/handles.css";
import lighting from "../../css/stage/lighting.css";
import loom from "../../css/run/loom.css";
import loomGraph from "../../css/run/loom_graph.css";
import loomStorages from "../../css/run/loom_storages.css";
import memoryPane from "../../css/stage/memory_pane.css";
import net from "../../css/run/net.css";
import outline from "../../css/stage/outline.css";
import paper from "../../css/stage/paper.css";
import stage from "../../css/stage/stage.css";
import frame from "../../css/stage/stage_frame.css";
import wholeRun from "../../css/run/whole_run.css";

const STAGE_STYLES = [stage, handles, outline, lighting, frame, graphPane, memoryPane, allocator];
const LOOM_STYLES = [loom, loomStorages, loomGraph];
const LIST_STYLES = [net, wholeRun];

export const pictureStyles = [...STAGE_STYLES, ...LOOM_STYLES, ...LIST_STYLES, paper].join("");
