module @jit_convolutional attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?x?x2xf32>) -> (tensor<?x4xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?x?x2xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?x?x2xf32>) -> tensor<i32>
    %2 = stablehlo.get_dimension_size %arg0, dim = 2 : (tensor<?x?x?x2xf32>) -> tensor<i32>
    %3 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%3, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, h, w, 2). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %4 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%4, %0, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'h'. Using the following polymorphic shapes specifications: args[0].shape = (b, h, w, 2). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'h' = {1} from specification 'h' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %5 = stablehlo.compare GE, %2, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%5, %0, %1, %2) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'w'. Using the following polymorphic shapes specifications: args[0].shape = (b, h, w, 2). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'h' = {1} from specification 'h' for dimension args[0].shape[1] (= {1}), 'w' = {2} from specification 'w' for dimension args[0].shape[2] (= {2}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %6 = call @_wrapped_jax_export_main(%0, %1, %2, %arg0) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?x?x2xf32>) -> tensor<?x4xf32>
    return %6 : tensor<?x4xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "h"}, %arg2: tensor<i32> {jax.global_constant = "w"}, %arg3: tensor<?x?x?x2xf32>) -> (tensor<?x4xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %c_1 = stablehlo.constant dense<-3> : tensor<i32>
    %c_2 = stablehlo.constant dense<4> : tensor<1xi32>
    %cst_3 = stablehlo.constant dense<[[[[-0.0483081788, -0.0789136887, -0.445626855, -0.00460858736], [-0.177432492, 0.466451108, 0.261235416, -0.00965744536]], [[0.267352402, -0.135947824, 0.420850545, -0.00215982436], [0.233352944, -0.516357303, 0.138672024, -0.675281644]], [[-0.814131557, -0.121790752, -0.359971046, 0.0656211153], [0.897902667, -0.332689285, -0.249577433, 0.0821615755]]], [[[0.19720532, -0.0705624297, -0.0823721289, 0.280985177], [0.207963049, -0.413470328, -0.0316725262, 0.0141147394]], [[-0.421793848, 0.103935637, -0.343182594, 0.388826698], [0.0770983621, 0.0357225947, -0.236411348, -0.0474439301]], [[-0.799098491, -4.525630e-01, 0.145135924, -0.85142684], [0.338643402, -0.698438584, 0.302695394, -0.338198811]]], [[[0.311596423, 0.0523804836, -0.614733994, 0.499659508], [0.576682866, -0.0263219625, -0.10956651, -0.0639467835]], [[-0.390060931, 0.439434707, -0.217156768, -0.0204761643], [-0.317318559, -0.250429243, -0.51109004, 0.502827704]], [[-0.0616350286, 0.386368662, 0.00532983895, -0.2777614], [-0.130674109, -0.224092424, 0.00318363961, -0.150106743]]]]> : tensor<3x3x2x4xf32>
    %cst_4 = stablehlo.constant dense<[0.379811972, 0.386578858, -0.0562833585, 0.216753542]> : tensor<4xf32>
    %cst_5 = stablehlo.constant dense<[[[[-0.11996869, -0.551429868, -0.322738379, 6.616230e-01]], [[-0.268493295, -0.421637505, 0.134930536, 0.562908888]], [[-0.581609726, -0.0834087356, -0.252821028, -0.704407811]]], [[[0.293970674, -0.00937756709, 0.0285767373, -0.300924599]], [[0.181913659, -0.21571894, -0.0571612827, -0.44330433]], [[-0.486441106, 0.534212768, -0.202841878, 0.116672143]]], [[[-0.0135161737, -0.176458076, -0.203184381, 0.252033025]], [[-0.120747045, -0.0605774596, 0.00888862274, 0.470603317]], [[0.272204399, 0.153040111, -0.225428551, -0.552787483]]]]> : tensor<3x3x1x4xf32>
    %0 = stablehlo.convolution(%arg3, %cst_3) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<?x?x?x2xf32>, tensor<3x3x2x4xf32>) -> tensor<?x?x?x4xf32>
    %1 = stablehlo.broadcast_in_dim %cst_4, dims = [3] : (tensor<4xf32>) -> tensor<1x1x1x4xf32>
    %2 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %5 = stablehlo.concatenate %2, %3, %4, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %6 = stablehlo.dynamic_broadcast_in_dim %1, %5, dims = [0, 1, 2, 3] : (tensor<1x1x1x4xf32>, tensor<4xi32>) -> tensor<?x?x?x4xf32>
    %7 = stablehlo.add %0, %6 : tensor<?x?x?x4xf32>
    %8 = call @relu(%arg0, %arg1, %arg2, %7) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?x?x4xf32>) -> tensor<?x?x?x4xf32>
    %9 = stablehlo.convolution(%8, %cst_5) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<?x?x?x4xf32>, tensor<3x3x1x4xf32>) -> tensor<?x?x?x4xf32>
    %10 = stablehlo.convert %arg2 : tensor<i32>
    %11 = stablehlo.add %10, %c_1 : tensor<i32>
    %12:2 = call @divmod(%arg0, %arg1, %arg2, %11, %c_0) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %13 = stablehlo.convert %arg1 : tensor<i32>
    %14 = stablehlo.add %13, %c_1 : tensor<i32>
    %15:2 = call @divmod(%arg0, %arg1, %arg2, %14, %c_0) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %16 = stablehlo.multiply %12#0, %15#0 : tensor<i32>
    %17 = stablehlo.convert %arg2 : tensor<i32>
    %18 = stablehlo.add %17, %c_1 : tensor<i32>
    %19:2 = call @divmod(%arg0, %arg1, %arg2, %18, %c_0) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %20 = stablehlo.convert %arg1 : tensor<i32>
    %21 = stablehlo.add %20, %c_1 : tensor<i32>
    %22:2 = call @divmod(%arg0, %arg1, %arg2, %21, %c_0) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %23 = stablehlo.add %16, %19#0 : tensor<i32>
    %24 = stablehlo.add %23, %22#0 : tensor<i32>
    %25 = stablehlo.add %24, %c : tensor<i32>
    %26 = stablehlo.convert %25 : (tensor<i32>) -> tensor<f32>
    %27 = stablehlo.reduce(%9 init: %cst) applies stablehlo.add across dimensions = [1, 2] : (tensor<?x?x?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
    %28 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %29 = stablehlo.concatenate %28, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %30 = stablehlo.dynamic_broadcast_in_dim %26, %29, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>
    %31 = stablehlo.divide %27, %30 : tensor<?x4xf32>
    return %31 : tensor<?x4xf32>
  }
  func.func private @relu(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "h"}, %arg2: tensor<i32> {jax.global_constant = "w"}, %arg3: tensor<?x?x?x4xf32>) -> tensor<?x?x?x4xf32> {
    %c = stablehlo.constant dense<4> : tensor<1xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.concatenate %0, %1, %2, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %4 = stablehlo.dynamic_broadcast_in_dim %cst, %3, dims = [] : (tensor<f32>, tensor<4xi32>) -> tensor<?x?x?x4xf32>
    %5 = stablehlo.maximum %arg3, %4 : tensor<?x?x?x4xf32>
    return %5 : tensor<?x?x?x4xf32>
  }
  func.func private @divmod(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "h"}, %arg2: tensor<i32> {jax.global_constant = "w"}, %arg3: tensor<i32>, %arg4: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
    %0 = call @floor_divide(%arg0, %arg1, %arg2, %arg3, %arg4) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %1 = call @remainder(%arg0, %arg1, %arg2, %arg3, %arg4) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    return %0, %1 : tensor<i32>, tensor<i32>
  }
  func.func private @floor_divide(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "h"}, %arg2: tensor<i32> {jax.global_constant = "w"}, %arg3: tensor<i32>, %arg4: tensor<i32>) -> tensor<i32> {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.divide %arg3, %arg4 : tensor<i32>
    %1 = stablehlo.sign %arg3 : tensor<i32>
    %2 = stablehlo.sign %arg4 : tensor<i32>
    %3 = stablehlo.compare NE, %1, %2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.remainder %arg3, %arg4 : tensor<i32>
    %5 = stablehlo.compare NE, %4, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.and %3, %5 : tensor<i1>
    %7 = stablehlo.subtract %0, %c : tensor<i32>
    %8 = call @_where(%arg0, %arg1, %arg2, %6, %7, %0) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    return %8 : tensor<i32>
  }
  func.func private @_where(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "h"}, %arg2: tensor<i32> {jax.global_constant = "w"}, %arg3: tensor<i1>, %arg4: tensor<i32>, %arg5: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg3, %arg4, %arg5 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @remainder(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "h"}, %arg2: tensor<i32> {jax.global_constant = "w"}, %arg3: tensor<i32>, %arg4: tensor<i32>) -> tensor<i32> {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare EQ, %arg4, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %1 = call @_where(%arg0, %arg1, %arg2, %0, %c, %arg4) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = stablehlo.remainder %arg3, %1 : tensor<i32>
    %3 = stablehlo.compare NE, %2, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.compare LT, %2, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.compare LT, %1, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.compare NE, %4, %5, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %7 = stablehlo.and %6, %3 : tensor<i1>
    %8 = stablehlo.add %2, %1 : tensor<i32>
    %9 = stablehlo.select %7, %8, %2 : tensor<i1>, tensor<i32>
    return %9 : tensor<i32>
  }
}
