module @jit_attention attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?x8xf32>) -> (tensor<?x?x8xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?x8xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?x8xf32>) -> tensor<i32>
    %2 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%2, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, t, 8). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %3 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%3, %0, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 't'. Using the following polymorphic shapes specifications: args[0].shape = (b, t, 8). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 't' = {1} from specification 't' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %4 = call @_wrapped_jax_export_main(%0, %1, %arg0) : (tensor<i32>, tensor<i32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
    return %4 : tensor<?x?x8xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "t"}, %arg2: tensor<?x?x8xf32>) -> (tensor<?x?x8xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<8> : tensor<1xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c_0 = stablehlo.constant dense<1> : tensor<1xi32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %c_3 = stablehlo.constant dense<4> : tensor<1xi32>
    %c_4 = stablehlo.constant dense<2> : tensor<1xi32>
    %cst_5 = stablehlo.constant dense<[[0.312577218, 0.332473785, 0.3685534, -0.182247058, 0.605989218, -0.498637229, 0.34468922, 0.197572827], [0.349447638, 0.751603305, 0.593778193, -0.458070755, -0.675468623, 0.326755613, -0.406004965, -0.0049621556], [0.335890979, -0.657518923, -0.843992173, 0.103719607, 0.0177543554, -0.0983212292, 0.0154139055, -0.344206244], [-0.60539776, -0.066661939, -0.388683468, -0.657392502, 0.20227243, -0.0245594513, 0.16261141, -0.395717978], [-0.263223529, -0.399617225, -0.354656756, 0.0781631693, -0.313189834, 0.142426521, 0.135902375, 0.810064375], [-0.557115614, 0.355160952, -0.0357951857, -0.00561189186, -0.579945505, -0.184077531, 0.297278911, -0.0329913497], [0.0324217491, -0.116286673, 0.461827904, -0.00858902652, -0.880166292, -0.276829034, -0.78751862, -1.30057538], [-0.212046146, 0.53342396, 0.0188479628, -0.469018281, -0.37627995, 0.452245295, 0.0630506501, 0.0191996973]]> : tensor<8x8xf32>
    %cst_6 = stablehlo.constant dense<[[-0.021384716, 0.0153601049, 0.322162271, 0.221026912, 0.0862818807, -0.417147338, 0.204443499, -0.273698837], [0.437538266, -0.508420348, -0.0550483912, -0.00294331461, -0.529858232, 0.688788652, 0.584162712, -0.185433507], [0.308688462, 0.151470423, -1.04542375, 0.100159205, -0.0245376322, 0.0332869403, -0.430749983, -0.107738815], [-7.130350e-02, 0.475237697, 0.133770823, -0.00222201203, 6.115880e-01, -0.22209917, -0.15577212, -7.267020e-01], [0.627642333, 0.385732949, 0.366739213, 0.267559379, 0.0440594368, 0.0861955732, -0.100802638, -0.081440173], [0.021721445, 0.604731798, 0.222275168, -0.0233840495, -0.231756821, -0.253999382, 0.641081988, 0.202674925], [0.0270202234, -0.138472736, -0.443621367, -0.0267446227, 0.349463224, -0.157014892, -0.0908970311, -0.0884137377], [0.0438377485, -0.637204349, -0.0941593423, -0.341758221, 3.538340e-01, -0.30823946, 0.230818704, 6.097750e-01]]> : tensor<8x8xf32>
    %cst_7 = stablehlo.constant dense<[[-0.125438511, -0.240630507, 7.657290e-02, -8.11611069E-4, -0.397446543, 0.184367761, 0.806206405, -0.103244796], [-0.0811504796, -0.417972803, 0.127635375, -0.498790503, -0.442772418, 0.511866927, -0.362181216, 0.432543039], [0.609743177, 0.103730582, 0.221356556, 0.780900359, -0.0786913633, -0.237202317, -0.541292429, 0.0166828316], [0.591657698, 0.383838147, -0.376836509, -0.342150152, -0.201668486, 0.116907232, -0.0821245685, 0.0857815816], [0.118695751, -0.119509436, -0.0160695761, 0.0826369524, -0.0335878804, 0.201408342, 0.748350322, 0.236788914], [0.0223242193, -0.674447476, 0.155182838, -0.778671383, -0.563613653, 0.341855705, 0.282494038, -0.059975598], [-0.684004426, -0.148539409, -0.271495312, 0.254736304, 0.903092205, 0.0867721959, -0.311724454, -0.468220621], [-0.0224377122, -0.0707172751, -0.460607678, 0.0465420932, -0.460365415, 0.444842905, 0.425060242, 0.433900505]]> : tensor<8x8xf32>
    %cst_8 = stablehlo.constant dense<[[-0.189620182, 0.205808222, -5.282780e-02, -0.15552482, -0.135658264, -0.519886136, -0.577545464, 0.317725927], [-0.0764941648, 0.0865699425, 0.400684148, -0.69325298, -0.313652039, 0.0701339394, 0.15683791, -0.150829777], [0.411671698, 0.0841579735, -0.485352844, -0.372305512, 0.322188437, 0.185532585, -0.759624481, 0.539084911], [0.239210814, 0.537337184, -0.153480351, -0.118282489, -0.450582832, 1.01477182, -0.0701816902, 0.635013282], [-0.258916974, 0.0655364767, -6.685410e-01, -0.153146863, 0.393501967, -0.500697553, 4.288910e-01, 0.134895131], [-0.417580366, -0.200638905, -0.183626264, -0.0198077355, -0.214457586, -0.330915153, -0.121835083, -0.410755903], [-0.515810609, -0.0192705933, 0.353149682, -0.611748695, 0.00140326063, -0.259982467, -0.390858173, 0.341375053], [-0.20726788, 0.59932065, -0.311935753, 0.154600799, -0.0909132063, -0.301608711, 0.23507002, -0.0619930289]]> : tensor<8x8xf32>
    %0 = stablehlo.dot_general %arg2, %cst_5, contracting_dims = [2] x [0] : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
    %1 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.concatenate %1, %2, %c_4, %c_3, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %4 = stablehlo.dynamic_reshape %0, %3 : (tensor<?x?x8xf32>, tensor<4xi32>) -> tensor<?x?x2x4xf32>
    %5 = stablehlo.transpose %4, dims = [0, 2, 1, 3] : (tensor<?x?x2x4xf32>) -> tensor<?x2x?x4xf32>
    %6 = stablehlo.dot_general %arg2, %cst_6, contracting_dims = [2] x [0] : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
    %7 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %8 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %9 = stablehlo.concatenate %7, %8, %c_4, %c_3, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %10 = stablehlo.dynamic_reshape %6, %9 : (tensor<?x?x8xf32>, tensor<4xi32>) -> tensor<?x?x2x4xf32>
    %11 = stablehlo.transpose %10, dims = [0, 2, 1, 3] : (tensor<?x?x2x4xf32>) -> tensor<?x2x?x4xf32>
    %12 = stablehlo.dot_general %arg2, %cst_7, contracting_dims = [2] x [0] : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
    %13 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %14 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %15 = stablehlo.concatenate %13, %14, %c_4, %c_3, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %16 = stablehlo.dynamic_reshape %12, %15 : (tensor<?x?x8xf32>, tensor<4xi32>) -> tensor<?x?x2x4xf32>
    %17 = stablehlo.transpose %16, dims = [0, 2, 1, 3] : (tensor<?x?x2x4xf32>) -> tensor<?x2x?x4xf32>
    %18 = stablehlo.transpose %11, dims = [0, 1, 3, 2] : (tensor<?x2x?x4xf32>) -> tensor<?x2x4x?xf32>
    %19 = stablehlo.dot_general %5, %18, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<?x2x?x4xf32>, tensor<?x2x4x?xf32>) -> tensor<?x2x?x?xf32>
    %20 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %21 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %22 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %23 = stablehlo.concatenate %20, %c_4, %21, %22, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %24 = stablehlo.dynamic_broadcast_in_dim %cst_2, %23, dims = [] : (tensor<f32>, tensor<4xi32>) -> tensor<?x2x?x?xf32>
    %25 = stablehlo.multiply %19, %24 : tensor<?x2x?x?xf32>
    %26 = stablehlo.reduce(%25 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<?x2x?x?xf32>, tensor<f32>) -> tensor<?x2x?xf32>
    %27 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %28 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %29 = stablehlo.concatenate %27, %c_4, %28, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %30 = stablehlo.dynamic_broadcast_in_dim %cst_1, %29, dims = [] : (tensor<f32>, tensor<3xi32>) -> tensor<?x2x?xf32>
    %31 = stablehlo.maximum %30, %26 : tensor<?x2x?xf32>
    %32 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %33 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %34 = stablehlo.concatenate %32, %c_4, %33, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %35 = stablehlo.dynamic_broadcast_in_dim %31, %34, dims = [0, 1, 2] : (tensor<?x2x?xf32>, tensor<4xi32>) -> tensor<?x2x?x1xf32>
    %36 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %37 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %38 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %39 = stablehlo.concatenate %36, %c_4, %37, %38, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %40 = stablehlo.dynamic_broadcast_in_dim %35, %39, dims = [0, 1, 2, 3] : (tensor<?x2x?x1xf32>, tensor<4xi32>) -> tensor<?x2x?x?xf32>
    %41 = stablehlo.subtract %25, %40 : tensor<?x2x?x?xf32>
    %42 = stablehlo.exponential %41 : tensor<?x2x?x?xf32>
    %43 = stablehlo.reduce(%42 init: %cst) applies stablehlo.add across dimensions = [3] : (tensor<?x2x?x?xf32>, tensor<f32>) -> tensor<?x2x?xf32>
    %44 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %45 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %46 = stablehlo.concatenate %44, %c_4, %45, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %47 = stablehlo.dynamic_broadcast_in_dim %43, %46, dims = [0, 1, 2] : (tensor<?x2x?xf32>, tensor<4xi32>) -> tensor<?x2x?x1xf32>
    %48 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %49 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %50 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %51 = stablehlo.concatenate %48, %c_4, %49, %50, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %52 = stablehlo.dynamic_broadcast_in_dim %47, %51, dims = [0, 1, 2, 3] : (tensor<?x2x?x1xf32>, tensor<4xi32>) -> tensor<?x2x?x?xf32>
    %53 = stablehlo.divide %42, %52 : tensor<?x2x?x?xf32>
    %54 = stablehlo.dot_general %53, %17, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<?x2x?x?xf32>, tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32>
    %55 = stablehlo.transpose %54, dims = [0, 2, 1, 3] : (tensor<?x2x?x4xf32>) -> tensor<?x?x2x4xf32>
    %56 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %57 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %58 = stablehlo.concatenate %56, %57, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %59 = stablehlo.dynamic_reshape %55, %58 : (tensor<?x?x2x4xf32>, tensor<3xi32>) -> tensor<?x?x8xf32>
    %60 = stablehlo.dot_general %59, %cst_8, contracting_dims = [2] x [0] : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
    return %60 : tensor<?x?x8xf32>
  }
}
